// SPDX-License-Identifier: Apache-2.0

package import Authentication
internal import WhorlSupport

extension LAError {
    /// The code that a program gets for a failure of the service.
    ///
    /// Where Apple has no code of the kind, the nearest one stands for it, and the finer reason is the underlying error.
    private static func code(for code: AuthenticationError.Code) -> Code {
        switch code {
        case .authenticationFailed: .authenticationFailed
        case .userCancel: .userCancel
        case .userFallback: .userFallback
        case .systemCancel: .systemCancel
        case .passcodeNotSet: .passcodeNotSet
        case .biometryNotAvailable: .biometryNotAvailable
        case .biometryNotEnrolled: .biometryNotEnrolled
        case .biometryLockout: .biometryLockout
        case .appCancel: .appCancel
        case .invalidContext: .invalidContext
        case .notInteractive: .notInteractive
        case .biometryDisconnected: .biometryDisconnected
        // "The app may not use biometry" has this code on Apple's systems too.
        case .biometryOptedOut: .biometryNotAvailable
        // Fingers that cannot be read or trusted, or a reader that is not clear: there is no biometry to use.
        case .enrollmentTampered, .enrollmentRolledBack, .storeFailed, .chipUnavailable, .readerNotChosen:
            .biometryNotAvailable
        // Somebody else has the reader now; later it may work.
        case .readerInUse: .systemCancel
        // Apple's systems raise an exception. This code alone says that the program's call is wrong, and not the
        // person, the finger or the machine; a program that tries again on cancels and failures does not on this.
        case .reasonMissing: .invalidContext
        }
    }

    /// The error that a program gets for a failure of the service.
    package init(_ error: AuthenticationError) {
        self.init(
            LAError.code(for: error.code),
            message: error.message,
            reason: DisplayText.clean(error.cause),
            recovery: error.recovery,
            underlying: error
        )
    }

    /// An error in words of its own.
    package init(
        _ code: Code,
        message: String,
        reason: String = "",
        recovery: String,
        underlying: (any Error)? = nil
    ) {
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: message,
            NSLocalizedFailureReasonErrorKey: reason.isEmpty ? message : reason,
            NSLocalizedRecoverySuggestionErrorKey: recovery,
        ]
        userInfo[NSUnderlyingErrorKey] = underlying
        self.init(code, userInfo: userInfo)
    }
}
