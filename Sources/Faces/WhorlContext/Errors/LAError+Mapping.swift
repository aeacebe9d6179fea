// SPDX-License-Identifier: Apache-2.0

package import WhorlService
internal import WhorlSupport

extension LAError {
    /// Makes the error that a program gets for a failure of the service.
    ///
    /// If Apple has no code for a failure, the nearest one is used, and the finer reason is the underlying error.
    package init(_ error: ServiceError) {
        self.init(
            error.code.appleCode.flatMap(Code.init(rawValue:)) ?? .biometryNotAvailable,
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
