// SPDX-License-Identifier: Apache-2.0

package import WhorlService
internal import WhorlSupport

extension LAError {
    /// Creates the error to report to a program for a failure of the service.
    ///
    /// If Apple does not define a code for the failure, the closest code is used. The underlying error contains the
    /// exact reason.
    package init(_ error: ServiceError) {
        self.init(
            error.code.appleCode.flatMap(Code.init(rawValue:)) ?? .biometryNotAvailable,
            message: error.message,
            reason: DisplayText.clean(error.cause),
            recovery: error.recovery,
            underlying: error
        )
    }

    /// Creates an error with a custom message and recovery suggestion.
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
