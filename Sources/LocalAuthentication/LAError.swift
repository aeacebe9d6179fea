// SPDX-License-Identifier: Apache-2.0

/// Why an evaluation did not succeed.
///
/// It wraps an `NSError` in ``LAErrorDomain``, whose user info holds the texts for people, and below
/// `NSUnderlyingErrorKey` the error of Whorl's engine with its finer code.
public struct LAError: Error, @unchecked Sendable {
    // Unchecked: an NSError never changes, and its user info is made of values here.

    /// What kind of failure it is.
    public enum Code: Int, Sendable, Hashable {
        /// The finger or the passcode was not the owner's; also an evaluation without a reason, see ``LAContext``.
        case authenticationFailed = -1
        /// The person pressed cancel.
        case userCancel = -2
        /// The person pressed the fallback button, and the program goes on in its own way.
        case userFallback = -3
        /// The time ran out, or the reader is in use by another evaluation.
        case systemCancel = -4
        /// No passcode is set, and nothing else can meet the policy.
        case passcodeNotSet = -5
        /// Biometry cannot be used; the underlying error says why.
        case biometryNotAvailable = -6
        /// No finger is enrolled for the connected reader.
        case biometryNotEnrolled = -7
        /// Too many fingers did not match.
        case biometryLockout = -8
        /// The context was invalidated, or the task cancelled, during the evaluation.
        case appCancel = -9
        /// The context was invalidated before.
        case invalidContext = -10
        /// No paired device is near; on Linux there is none.
        case companionNotAvailable = -11
        /// No removable reader is paired. Whorl never answers this.
        case biometryNotPaired = -12
        /// The reader that the fingers are enrolled for is not connected.
        case biometryDisconnected = -13
        /// An embedded prompt has a bad size. Whorl never answers this.
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

    /// Wraps an error, which must be of ``LAErrorDomain``.
    public init(_nsError error: NSError) {
        precondition(error.domain == LAErrorDomain, "an LAError is made of an error of its own domain")
        _nsError = error
    }

    /// The name of the domain, ``LAErrorDomain``.
    public static var errorDomain: String { LAErrorDomain }
}
