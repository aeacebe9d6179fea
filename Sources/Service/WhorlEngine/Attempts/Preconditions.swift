// SPDX-License-Identifier: Apache-2.0

package import WhorlService
import WhorlSupport

/// The facts that decide whether an evaluation may begin, collected before the decision.
package struct Preconditions: Sendable {
    /// The state of the reader.
    package enum Reader: Sendable {
        /// The selected reader is connected.
        case connected
        /// No reader is connected.
        case none
        /// The reader cannot be selected or used, for the reason in the error.
        case unclear(ServiceError)
    }

    /// The readers for which fingers are enrolled.
    package enum Fingers: Sendable {
        /// For the connected reader, and perhaps others.
        case usable
        /// Only for readers other than the connected one.
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
        /// It is unknown whether a passcode is set, for the reason in the error.
        case unknown(ServiceError)
    }

    /// The reason why the store cannot be used; `nil` if it can.
    package var storeFailure: ServiceError?
    /// The reason why the enrolled fingers cannot be trusted (tampered with, rolled back); `nil` if they can.
    package var enrollmentFault: ServiceError?
    /// Whether the user disabled fingers for the program.
    package var isOptedOut = false
    /// The state of the reader.
    package var reader = Reader.none
    /// The readers for which fingers are enrolled.
    package var fingers = Fingers.none
    /// The reason why no touch can reach the required strength; `nil` if one can.
    package var weakness: ServiceError?
    /// Whether the machine requires the passcode with each touch.
    package var demandsPasscode = false
    /// Whether fingers are locked after too many failures.
    package var lock = LockState.open
    /// Whether the owner has a passcode.
    package var passcode = Passcode.notSet

    /// Creates the preconditions of a system with an empty store, no reader and no passcode.
    package init() {}

    /// Whether a lock ends by time: only if it is certain that no passcode is set.
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

    /// The reason why a finger cannot be used; `nil` if it can.
    ///
    /// If there are several reasons, the first in this order is returned: the store cannot be used, the enrolled
    /// fingers cannot be trusted, fingers are disabled for the program, no reader, no finger for this reader, too weak,
    /// locked out. A problem that another touch cannot fix comes first, so a lockout never hides one.
    ///
    /// Without a reader, the reason is "disconnected" if fingers are enrolled, because plugging the reader in fixes it,
    /// and "not available" otherwise.
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

/// The steps of an evaluation after the preflight.
package enum Plan: Sendable {
    /// Prompts for a finger; if a passcode is set, it can be used instead.
    case finger
    /// Only the passcode can meet the policy; the error says why a finger cannot.
    case passcode(insteadOf: ServiceError)
    /// Neither a finger nor the passcode can meet the policy.
    case refuse(ServiceError)
}

extension Preconditions {
    /// Returns the plan for an evaluation with a policy.
    ///
    /// If no passcode is set, a finger meets a device-owner policy. Apple's table has `passcodeNotSet` here. Whorl
    /// differs, because biometry does not depend on a passcode.
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

    /// The plan for an evaluation that prompts only for the passcode.
    package var planForPasscode: Plan {
        if let storeFailure { return .refuse(storeFailure) }
        return switch passcode {
        case .set:
            .passcode(
                insteadOf: ServiceError(.notInteractive, cause: "the prompt takes no passcode")
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
    /// Returns the error of a lockout; `nil` if fingers are not locked.
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

    /// The error under a device-owner policy if no passcode is set either.
    ///
    /// `passcodeNotSet` fits only if setting a passcode or using a finger would help. A lockout, fingers that cannot be
    /// trusted and an unclear reader have other remedies, so their errors are kept.
    fileprivate var withoutPasscode: ServiceError {
        let isAboutReader = category == .readerUnavailable && code != .readerInUse
        guard isAboutReader || code == .biometryNotEnrolled || code == .biometryOptedOut else { return self }
        return ServiceError(.passcodeNotSet, cause: "\(code.rawValue): \(message)")
    }
}
