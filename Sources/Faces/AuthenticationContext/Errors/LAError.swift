// SPDX-License-Identifier: Apache-2.0

/// An error of an evaluation, in the form that programs for Apple's systems expect.
///
/// It wraps an `NSError` in ``LAErrorDomain``, and can be caught by its code (`catch LAError.userCancel`), as an
/// `LAError` (also if an `NSError` was thrown), and as an `NSError`. Errors that Whorl makes describe the failure, its
/// reason and the recovery under `NSLocalizedDescriptionKey`, `NSLocalizedFailureReasonErrorKey` and
/// `NSLocalizedRecoverySuggestionErrorKey`, and hold the engine's error with its finer code under
/// `NSUnderlyingErrorKey`.
///
/// It is `@unchecked Sendable`: an `NSError` never changes, and what Whorl puts into its user info is Sendable. A
/// caller that makes one with its own user info must ensure the same.
public struct LAError: Error, @unchecked Sendable {
    /// The kind of failure.
    public enum Code: Int, Sendable, Hashable {
        /// The finger did not match, three times.
        case authenticationFailed = -1
        /// The person pressed cancel.
        case userCancel = -2
        /// The person pressed the fallback button, and the program goes on in its own way.
        case userFallback = -3
        /// The time ran out, the reader is in use, or the context has an evaluation that has not ended.
        case systemCancel = -4
        /// No passcode is set, and nothing else can meet the policy.
        case passcodeNotSet = -5
        /// Biometry cannot be used; the underlying error says why.
        case biometryNotAvailable = -6
        /// No finger is enrolled for the connected reader.
        case biometryNotEnrolled = -7
        /// Too many fingers did not match.
        case biometryLockout = -8
        /// The context was invalidated or released, or the task cancelled, during the evaluation.
        case appCancel = -9
        /// The call was wrong: the context was invalidated before, or the reason is empty.
        case invalidContext = -10
        /// No paired device is near; a Linux machine never has one.
        case companionNotAvailable = -11
        /// No removable reader is paired; Whorl never returns this.
        case biometryNotPaired = -12
        /// The reader that the fingers are enrolled for is not connected.
        case biometryDisconnected = -13
        /// An embedded prompt has a bad size; Whorl never returns this.
        case invalidDimensions = -14
        /// A prompt would be needed and cannot be shown, or must not be.
        case notInteractive = -1004

        /// The earlier name of ``biometryNotAvailable``.
        public static var touchIDNotAvailable: Code { .biometryNotAvailable }
        /// The earlier name of ``biometryNotEnrolled``.
        public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
        /// The earlier name of ``biometryLockout``.
        public static var touchIDLockout: Code { .biometryLockout }
        /// The earlier name of ``companionNotAvailable``.
        public static var watchNotAvailable: Code { .companionNotAvailable }
    }

    /// The error that this one wraps.
    public let _nsError: NSError

    /// Wraps an error of ``LAErrorDomain``.
    public init(_nsError error: NSError) { _nsError = error }

    /// The kind of failure.
    ///
    /// A number that is not a ``Code-swift.enum`` reads as ``Code-swift.enum/authenticationFailed``; `errorCode` has
    /// the number itself.
    public var code: Code { Code(rawValue: _nsError.code) ?? .authenticationFailed }

    /// The name of the domain, ``LAErrorDomain``.
    public static var errorDomain: String { LAErrorDomain }
}
