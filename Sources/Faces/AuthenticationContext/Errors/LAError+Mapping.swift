// SPDX-License-Identifier: Apache-2.0

package import WhorlService
internal import WhorlSupport

extension LAError {
    /// Returns the code that a program gets for a failure of the service.
    ///
    /// If Apple has no code for a failure, the nearest one is used, and the finer reason is the underlying error.
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
        // If fingers cannot be read or trusted, or the reader is ambiguous, no biometry can be used.
        case .enrollmentTampered, .enrollmentRolledBack, .storeFailed, .chipUnavailable, .readerNotChosen:
            .biometryNotAvailable
        // Another process uses the reader now; it may work later.
        case .readerInUse: .systemCancel
        // Apple's systems raise an exception. Only this code says that the program's call is wrong, rather than the
        // person, the finger or the machine; a program that retries after cancels and failures does not retry after
        // this one.
        case .reasonMissing: .invalidContext
        }
    }

    /// Makes the error that a program gets for a failure of the service.
    package init(_ error: AuthenticationError) {
        self.init(
            LAError.code(for: error.code),
            message: error.message,
            reason: DisplayText.clean(error.cause),
            recovery: error.recovery,
            underlying: error
        )
    }

    /// Makes an error with its own message and recovery.
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
