// SPDX-License-Identifier: Apache-2.0

/// Everything that decides whether an evaluation may begin, gathered before anything is decided.
package struct Standing: Sendable {
    /// Which reader there is.
    package enum Reader: Sendable {
        /// The one that is meant is connected.
        case connected
        /// None is connected.
        case none
        /// It cannot be told or used; the error says why.
        case unclear(AuthenticationError)
    }

    /// For which readers fingers are enrolled.
    package enum Fingers: Sendable {
        /// For the connected reader, among others perhaps.
        case usable
        /// Only for readers that are not the connected one.
        case elsewhere
        /// For none.
        case none
    }

    /// Whether the owner has a passcode.
    package enum Passcode: Sendable {
        /// One is set.
        case set
        /// None is set.
        case notSet
        /// It cannot be told; the error says why.
        case unknown(AuthenticationError)
    }

    /// Why the store cannot be used; `nil` when it can.
    package var storeFailure: AuthenticationError?
    /// Why the enrolled fingers cannot be trusted (tampered with, rolled back); `nil` when they can.
    package var enrollmentFault: AuthenticationError?
    /// Whether the person has told the program not to use fingers.
    package var isOptedOut = false
    /// Which reader there is.
    package var reader = Reader.none
    /// For which readers fingers are enrolled.
    package var fingers = Fingers.none
    /// Whether fingers are locked after too many failures.
    package var lock = LockState.open
    /// Whether the owner has a passcode.
    package var passcode = Passcode.notSet

    /// Where nothing is stored, nothing connected and nothing set.
    package init() {}

    /// Whether a lock ends by time: only where it is certain that no passcode is set.
    package var lockEndsByTime: Bool {
        switch passcode {
        case .notSet: true
        case .set, .unknown: false
        }
    }

    /// Whether the passcode may stand in for a finger.
    package var hasPasscode: Bool {
        switch passcode {
        case .set: true
        case .notSet, .unknown: false
        }
    }

    /// Why no finger can be asked for; `nil` when one can.
    ///
    /// Where several reasons hold, the first of this order is told: the store cannot be used; the enrolled
    /// fingers cannot be trusted; the program is opted out; no reader; no finger for it; locked. So what
    /// cannot be mended by touching something else comes first, and a lock never hides that something is
    /// broken.
    ///
    /// Without any reader it is "disconnected" where fingers are enrolled, since plugging the reader in mends
    /// it, and "not available" where none are.
    package var biometryObstacle: AuthenticationError? {
        if let storeFailure { return storeFailure }
        if let enrollmentFault { return enrollmentFault }
        if isOptedOut { return AuthenticationError(.biometryOptedOut) }
        switch (reader, fingers) {
        case (.unclear(let error), _): return error
        case (.none, .none):
            return AuthenticationError(.biometryNotAvailable, cause: "no reader is connected")
        case (.none, .usable), (.none, .elsewhere): return AuthenticationError(.biometryDisconnected)
        case (.connected, .none): return AuthenticationError(.biometryNotEnrolled)
        case (.connected, .elsewhere): return AuthenticationError(.biometryDisconnected)
        case (.connected, .usable): return AuthenticationError.lockout(lock)
        }
    }
}

/// How an evaluation goes on after the preflight.
package enum Plan: Sendable {
    /// A finger is asked for; the passcode may stand in where one is set.
    case finger
    /// Only the passcode can meet the policy; the error says why no finger can.
    case passcode(insteadOf: AuthenticationError)
    /// Nothing can meet the policy.
    case refuse(AuthenticationError)
}

extension Standing {
    /// What can meet a policy.
    ///
    /// A device-owner policy is met by a finger where no passcode is set, which is a departure from Apple's
    /// table (there it is `passcodeNotSet`): the passcode is one more way here, not what biometry rests on.
    package func plan(for policy: Policy) -> Plan {
        guard let obstacle = biometryObstacle else { return .finger }
        switch policy {
        case .biometrics: return .refuse(obstacle)
        case .deviceOwner: return planWithoutFinger(obstacle)
        }
    }

    /// What can meet the wish for a passcode and nothing else.
    package var planForPasscode: Plan {
        if let storeFailure { return .refuse(storeFailure) }
        return switch passcode {
        case .set:
            .passcode(
                insteadOf: AuthenticationError(.notInteractive, cause: "the prompt takes no passcode")
            )
        case .unknown(let error): .refuse(error)
        case .notSet: .refuse(AuthenticationError(.passcodeNotSet))
        }
    }

    private func planWithoutFinger(_ obstacle: AuthenticationError) -> Plan {
        guard storeFailure == nil else { return .refuse(obstacle) }
        switch passcode {
        case .set: return .passcode(insteadOf: obstacle)
        case .unknown(let error): return .refuse(error)
        case .notSet: return .refuse(obstacle.withoutPasscode)
        }
    }
}

extension AuthenticationError {
    /// The error of a lock; `nil` when it is open.
    package static func lockout(_ lock: LockState) -> AuthenticationError? {
        switch lock {
        case .open:
            nil
        case .untilPasscode:
            AuthenticationError(
                .biometryLockout,
                recovery: "Verify the passcode.",
                cause: "until the passcode"
            )
        case .for(let left):
            AuthenticationError(
                .biometryLockout,
                recovery: "Wait \(left.spoken); then one try is free, and a failed one locks for longer.",
                cause: "for \(left.components.seconds) s"
            )
        }
    }

    /// What is told under a device-owner policy where no passcode is set either.
    ///
    /// "No passcode is set" fits only where setting one, or a finger, is the remedy. A lock, a set of fingers
    /// that cannot be trusted and an unclear reader have remedies of their own and stay what they are.
    fileprivate var withoutPasscode: AuthenticationError {
        switch code {
        case .biometryNotAvailable, .biometryNotEnrolled, .biometryDisconnected, .biometryOptedOut:
            AuthenticationError(.passcodeNotSet, cause: "\(code.rawValue): \(message)")
        case .authenticationFailed, .userCancel, .userFallback, .systemCancel, .passcodeNotSet,
            .biometryLockout,
            .appCancel, .invalidContext, .notInteractive, .reasonMissing, .enrollmentTampered,
            .enrollmentRolledBack, .readerInUse, .storeFailed, .chipUnavailable, .readerNotChosen:
            self
        }
    }
}
