// SPDX-License-Identifier: Apache-2.0

package import WhorlService
import WhorlSupport

/// The facts that decide whether an evaluation may begin, which are collected before the decision.
package struct Preconditions: Sendable {
    /// The state of the reader.
    package enum Reader: Sendable {
        /// The selected reader is connected.
        case connected
        /// No reader is connected.
        case none
        /// The reader cannot be selected or used; the error says why.
        case unclear(ServiceError)
    }

    /// The readers for which fingers are enrolled.
    package enum Fingers: Sendable {
        /// Fingers are enrolled for the connected reader, and perhaps for others.
        case usable
        /// Fingers are enrolled only for readers other than the connected one.
        case elsewhere
        /// No finger is enrolled for any reader.
        case none
    }

    /// Whether the owner has a passcode.
    package enum Passcode: Sendable {
        /// A passcode is set.
        case set
        /// No passcode is set.
        case notSet
        /// It is unknown whether a passcode is set; the error says why.
        case unknown(ServiceError)
    }

    /// The reason why the database cannot be used; `nil` if it can be.
    package var storeFailure: ServiceError?
    /// The reason why the enrolled fingers cannot be trusted (tampered with or rolled back); `nil` if they can be.
    package var enrollmentFault: ServiceError?
    /// Whether the user has disabled fingers for the program.
    package var isOptedOut = false
    /// The state of the reader.
    package var reader = Reader.none
    /// The readers for which fingers are enrolled.
    package var fingers = Fingers.none
    /// The reason why a touch cannot reach the required strength; `nil` if it can.
    package var weakness: ServiceError?
    /// Whether the machine requires the passcode with each touch.
    package var demandsPasscode = false
    /// Whether fingers are locked out after too many failures.
    package var lock = LockState.open
    /// Whether the owner has a passcode.
    package var passcode = Passcode.notSet

    /// Creates the preconditions for a system with an empty database, no reader and no passcode.
    package init() {}

    /// Whether a lockout ends after a time, which is the case only if it is certain that no passcode is set.
    package var lockEndsByTime: Bool {
        switch passcode {
        case .notSet: true
        case .set, .unknown: false
        }
    }

    /// Whether the passcode can be used instead of a finger.
    package var hasPasscode: Bool {
        switch passcode {
        case .set: true
        case .notSet, .unknown: false
        }
    }

    /// The reason why a finger cannot be used; `nil` if it can be.
    ///
    /// If there are several reasons, the first in this order applies: the database cannot be used, the enrolled fingers
    /// cannot be trusted, fingers are disabled for the program, no reader, no finger for this reader, too weak, locked
    /// out. Problems that another touch cannot fix come first, so that a lockout never hides them.
    ///
    /// If no reader is connected, the reason is "disconnected" if fingers are enrolled, because plugging in the reader
    /// fixes it; otherwise it is "not available".
    package var biometryObstacle: ServiceError? {
        if let storeFailure { return storeFailure }
        if let enrollmentFault { return enrollmentFault }
        if isOptedOut { return ServiceError(.biometryOptedOut) }
        switch (reader, fingers) {
        case (.unclear(let error), _): return error
        case (.none, .none):
            return ServiceError(.biometryNotAvailable, cause: "no reader is connected")
        case (.none, .usable), (.none, .elsewhere): return ServiceError(.biometryDisconnected)
        case (.connected, .none): return ServiceError(.biometryNotEnrolled)
        case (.connected, .elsewhere): return ServiceError(.biometryDisconnected)
        case (.connected, .usable): return weakness ?? ServiceError.lockout(lock)
        }
    }
}

/// The steps that an evaluation takes after the preflight.
package enum Plan: Sendable {
    /// Prompts for a finger; if a passcode is set, the user can enter it instead.
    case finger
    /// Only the passcode can satisfy the policy; the error says why a finger cannot.
    case passcode(insteadOf: ServiceError)
    /// Neither a finger nor the passcode can satisfy the policy; the error says why.
    case refuse(ServiceError)
}

extension Preconditions {
    /// Returns the plan for an evaluation with a policy.
    ///
    /// If no passcode is set, a finger satisfies a device-owner policy. Apple's implementation fails with
    /// `passcodeNotSet` in this case. Whorl differs, because its biometry does not depend on a passcode.
    ///
    /// If the machine requires the passcode with each touch, both policies require both.
    package func plan(for policy: Policy) -> Plan {
        guard let obstacle = biometryObstacle else { return demandsPasscode ? planForBoth : .finger }
        guard !demandsPasscode else { return .refuse(obstacle) }
        switch policy {
        case .biometrics: return .refuse(obstacle)
        case .deviceOwner: return planWithoutFinger(obstacle)
        }
    }

    /// The plan for an evaluation that prompts for the passcode only.
    package var planForPasscode: Plan {
        if let storeFailure { return .refuse(storeFailure) }
        return switch passcode {
        case .set:
            .passcode(
                insteadOf: ServiceError(.notInteractive, cause: "the prompt does not accept a passcode")
            )
        case .unknown(let error): .refuse(error)
        case .notSet: .refuse(ServiceError(.passcodeNotSet))
        }
    }

    private var planForBoth: Plan {
        switch passcode {
        case .set: .finger
        case .unknown(let error): .refuse(error)
        case .notSet: .refuse(ServiceError(.passcodeNotSet))
        }
    }

    private func planWithoutFinger(_ obstacle: ServiceError) -> Plan {
        guard storeFailure == nil else { return .refuse(obstacle) }
        switch passcode {
        case .set: return .passcode(insteadOf: obstacle)
        case .unknown(let error): return .refuse(error)
        case .notSet: return .refuse(obstacle.withoutPasscode)
        }
    }
}

extension ServiceError {
    /// Returns the error for a lockout; `nil` if fingers are not locked out.
    package static func lockout(_ lock: LockState) -> ServiceError? {
        switch lock {
        case .open:
            nil
        case .untilPasscode:
            ServiceError(
                .biometryLockout,
                recovery: "Verify the passcode.",
                cause: "until the passcode"
            )
        case .for(let left):
            ServiceError(
                .biometryLockout,
                recovery:
                    "Wait \(left.spoken). You then get one attempt; if it fails, the lockout gets longer.",
                cause: "for \(left.components.seconds) s"
            )
        }
    }

    /// The error under a device-owner policy if no passcode is set.
    ///
    /// `passcodeNotSet` is appropriate only if setting a passcode would help. A lockout, fingers that cannot be trusted
    /// and an ambiguous reader have other remedies, so their errors are not replaced.
    fileprivate var withoutPasscode: ServiceError {
        let isAboutReader = category == .readerUnavailable && code != .readerInUse
        guard isAboutReader || code == .biometryNotEnrolled || code == .biometryOptedOut else { return self }
        return ServiceError(.passcodeNotSet, cause: "\(code.rawValue): \(message)")
    }
}
