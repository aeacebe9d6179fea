// SPDX-License-Identifier: Apache-2.0

internal import Authentication

extension LAError {
    /// What an error of the engine is called here.
    ///
    /// Apple has fewer codes than there are reasons: whatever keeps fingers from being used is
    /// `biometryNotAvailable`, and the engine's own error stays below `NSUnderlyingErrorKey`.
    init(_ error: AuthenticationError) {
        let cause = DisplayText.clean(error.cause)
        self.init(
            Code(error.code),
            userInfo: [
                NSLocalizedDescriptionKey: error.message,
                NSLocalizedFailureReasonErrorKey: cause.isEmpty ? error.message : cause,
                NSLocalizedRecoverySuggestionErrorKey: error.recovery,
                NSUnderlyingErrorKey: error,
            ]
        )
    }
}

extension LAError.Code {
    /// Apple's code for a kind of failure.
    init(_ code: AuthenticationError.Code) {
        self =
            switch code {
            case .authenticationFailed: .authenticationFailed
            case .userCancel: .userCancel
            case .userFallback: .userFallback
            case .systemCancel: .systemCancel
            case .passcodeNotSet: .passcodeNotSet
            case .biometryNotAvailable: .biometryNotAvailable
            case .biometryOptedOut: .biometryNotAvailable
            case .biometryNotEnrolled: .biometryNotEnrolled
            case .biometryLockout: .biometryLockout
            case .appCancel: .appCancel
            case .invalidContext: .invalidContext
            case .notInteractive: .notInteractive
            case .biometryDisconnected: .biometryDisconnected
            // A plain refusal: no program tries again by itself after it, or takes it for leave to skip the prompt.
            case .reasonMissing: .authenticationFailed
            case .enrollmentTampered, .enrollmentRolledBack: .biometryNotAvailable
            case .readerInUse: .systemCancel
            case .storeFailed, .readerNotChosen: .biometryNotAvailable
            }
    }
}
