// SPDX-License-Identifier: Apache-2.0

/// Why an evaluation did not succeed, as programs for Apple's systems know it.
///
/// It is a view of an `NSError` in ``LAErrorDomain``, and is caught by its code (`catch LAError.userCancel`), as itself
/// (also where an `NSError` was thrown), and as an `NSError`. Errors that Whorl makes hold what happened, why, and what to
/// do next under `NSLocalizedDescriptionKey`, `NSLocalizedFailureReasonErrorKey` and
/// `NSLocalizedRecoverySuggestionErrorKey`, and under `NSUnderlyingErrorKey` the engine's error with its finer code.
///
/// It is `@unchecked Sendable`: an `NSError` never changes, and what Whorl puts into its user info is Sendable. Whoever
/// makes one with a user info of its own answers for that.
public struct LAError: Error, @unchecked Sendable {
    /// What kind of failure it is.
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
        /// No removable reader is paired; Whorl never answers this.
        case biometryNotPaired = -12
        /// The reader that the fingers are enrolled for is not connected.
        case biometryDisconnected = -13
        /// An embedded prompt has a bad size; Whorl never answers this.
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

    /// What kind of failure it is.
    ///
    /// A number that is no ``Code-swift.enum`` reads as ``Code-swift.enum/authenticationFailed``; `errorCode` has it.
    public var code: Code { Code(rawValue: _nsError.code) ?? .authenticationFailed }

    /// The name of the domain, ``LAErrorDomain``.
    public static var errorDomain: String { LAErrorDomain }
}
