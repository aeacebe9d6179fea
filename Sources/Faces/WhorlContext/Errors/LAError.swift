// SPDX-License-Identifier: Apache-2.0

/// An error that a context reports, in the form that programs for Apple's systems expect.
///
/// It wraps an `NSError` in ``LAErrorDomain``. You can catch it by its code (`catch LAError.userCancel`), as an
/// `LAError` (even if an `NSError` was thrown), or as an `NSError`. Errors that Whorl creates have a description, a
/// reason and a recovery suggestion (`NSLocalizedDescriptionKey`, `NSLocalizedFailureReasonErrorKey`,
/// `NSLocalizedRecoverySuggestionErrorKey`). The error under `NSUnderlyingErrorKey` is the engine's error, which has a
/// more specific code.
///
/// The type is `@unchecked Sendable` because an `NSError` never changes and Whorl's values in its user info are
/// Sendable. A program that creates an error with different user info must ensure that its values are Sendable.
public struct LAError: Error, @unchecked Sendable {
    /// The kind of failure.
    public enum Code: Int, Sendable, Hashable {
        /// Authentication failed, for example because three touches did not match.
        case authenticationFailed = -1
        /// The user pressed the cancel button.
        case userCancel = -2
        /// The user pressed the fallback button. The program is expected to continue with its own fallback.
        case userFallback = -3
        /// The prompt timed out, the reader is in use, or the context is already evaluating a policy.
        case systemCancel = -4
        /// No passcode is set, and the policy cannot be met in any other way.
        case passcodeNotSet = -5
        /// Biometry is not available. The underlying error contains the reason.
        case biometryNotAvailable = -6
        /// No finger is enrolled for the connected reader.
        case biometryNotEnrolled = -7
        /// Fingers are locked out because too many tries failed.
        case biometryLockout = -8
        /// During the evaluation, the context was invalidated or released, or the task was canceled.
        case appCancel = -9
        /// The call is invalid: the context has already been invalidated, or the reason is empty.
        case invalidContext = -10
        /// No paired device is nearby. Linux machines never have paired devices.
        case companionNotAvailable = -11
        /// No removable reader is paired. Whorl never returns this code.
        case biometryNotPaired = -12
        /// The reader with the enrolled fingers is not connected.
        case biometryDisconnected = -13
        /// An embedded prompt has an invalid size. Whorl never returns this code.
        case invalidDimensions = -14
        /// A prompt is required but cannot be shown or is not allowed.
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

    /// The wrapped error.
    public let _nsError: NSError

    /// Creates an error that wraps an `NSError` in the domain ``LAErrorDomain``.
    public init(_nsError error: NSError) { _nsError = error }

    /// The kind of failure.
    ///
    /// If the wrapped error's number is not a defined code, the value is ``Code-swift.enum/authenticationFailed``; use
    /// `errorCode` to get the number.
    public var code: Code { Code(rawValue: _nsError.code) ?? .authenticationFailed }

    /// The error domain, ``LAErrorDomain``.
    public static var errorDomain: String { LAErrorDomain }
}

// The codes as `LAError.userCancel`: in `catch`, in `switch`, and compared with an error's `code`.
extension LAError {
    /// Authentication failed, for example because three touches did not match.
    public static var authenticationFailed: Code { .authenticationFailed }
    /// The user pressed the cancel button.
    public static var userCancel: Code { .userCancel }
    /// The user pressed the fallback button.
    ///
    /// The program is expected to continue with its own fallback.
    public static var userFallback: Code { .userFallback }
    /// The prompt timed out, the reader is in use, or the context is already evaluating a policy.
    public static var systemCancel: Code { .systemCancel }
    /// No passcode is set, and the policy cannot be met in any other way.
    public static var passcodeNotSet: Code { .passcodeNotSet }
    /// Biometry is not available.
    ///
    /// The underlying error contains the reason.
    public static var biometryNotAvailable: Code { .biometryNotAvailable }
    /// No finger is enrolled for the connected reader.
    public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
    /// Fingers are locked out because too many tries failed.
    public static var biometryLockout: Code { .biometryLockout }
    /// During the evaluation, the context was invalidated or released, or the task was canceled.
    public static var appCancel: Code { .appCancel }
    /// The call is invalid: the context has already been invalidated, or the reason is empty.
    public static var invalidContext: Code { .invalidContext }
    /// No paired device is nearby.
    ///
    /// Linux machines never have paired devices.
    public static var companionNotAvailable: Code { .companionNotAvailable }
    /// No removable reader is paired.
    ///
    /// Whorl never returns this code.
    public static var biometryNotPaired: Code { .biometryNotPaired }
    /// The reader with the enrolled fingers is not connected.
    public static var biometryDisconnected: Code { .biometryDisconnected }
    /// An embedded prompt has an invalid size.
    ///
    /// Whorl never returns this code.
    public static var invalidDimensions: Code { .invalidDimensions }
    /// A prompt is required but cannot be shown or is not allowed.
    public static var notInteractive: Code { .notInteractive }
    /// The earlier name of ``biometryNotAvailable``.
    public static var touchIDNotAvailable: Code { .biometryNotAvailable }
    /// The earlier name of ``biometryNotEnrolled``.
    public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
    /// The earlier name of ``biometryLockout``.
    public static var touchIDLockout: Code { .biometryLockout }
    /// The earlier name of ``companionNotAvailable``.
    public static var watchNotAvailable: Code { .companionNotAvailable }
}

/// The domain of every ``LAError``.
public let LAErrorDomain = "com.apple.LocalAuthentication"
/// The same as ``LAErrorDomain``.
public let kLAErrorDomain = LAErrorDomain

/// The raw value of ``LAError/authenticationFailed``.
public let kLAErrorAuthenticationFailed: Int32 = -1
/// The raw value of ``LAError/userCancel``.
public let kLAErrorUserCancel: Int32 = -2
/// The raw value of ``LAError/userFallback``.
public let kLAErrorUserFallback: Int32 = -3
/// The raw value of ``LAError/systemCancel``.
public let kLAErrorSystemCancel: Int32 = -4
/// The raw value of ``LAError/passcodeNotSet``.
public let kLAErrorPasscodeNotSet: Int32 = -5
/// The raw value of ``LAError/biometryNotAvailable``.
public let kLAErrorBiometryNotAvailable: Int32 = -6
/// The raw value of ``LAError/biometryNotEnrolled``.
public let kLAErrorBiometryNotEnrolled: Int32 = -7
/// The raw value of ``LAError/biometryLockout``.
public let kLAErrorBiometryLockout: Int32 = -8
/// The raw value of ``LAError/appCancel``.
public let kLAErrorAppCancel: Int32 = -9
/// The raw value of ``LAError/invalidContext``.
public let kLAErrorInvalidContext: Int32 = -10
/// The raw value of ``LAError/companionNotAvailable``.
public let kLAErrorCompanionNotAvailable: Int32 = -11
/// The raw value of ``LAError/biometryNotPaired``.
public let kLAErrorBiometryNotPaired: Int32 = -12
/// The raw value of ``LAError/biometryDisconnected``.
public let kLAErrorBiometryDisconnected: Int32 = -13
/// The raw value of ``LAError/invalidDimensions``.
public let kLAErrorInvalidDimensions: Int32 = -14
/// The raw value of ``LAError/notInteractive``.
public let kLAErrorNotInteractive: Int32 = -1004
/// The raw value of ``LAError/touchIDNotAvailable``.
public let kLAErrorTouchIDNotAvailable: Int32 = -6
/// The raw value of ``LAError/touchIDNotEnrolled``.
public let kLAErrorTouchIDNotEnrolled: Int32 = -7
/// The raw value of ``LAError/touchIDLockout``.
public let kLAErrorTouchIDLockout: Int32 = -8
/// The raw value of ``LAError/watchNotAvailable``.
public let kLAErrorWatchNotAvailable: Int32 = -11

// Apple's compiler generates these for a C error domain: `catch LAError.userCancel`, and casts to and from NSError.

extension LAError: _BridgedStoredNSError {
    /// The domain of an `NSError` that can be cast to ``LAError``.
    public static var _nsErrorDomain: String { LAErrorDomain }

    /// Returns whether two errors have the same code and user info.
    public static func == (left: LAError, right: LAError) -> Bool { left._nsError.isEqual(right._nsError) }

    /// Hashes the domain and the code.
    ///
    /// The wrapped error is not hashed because `NSError.hash` crashes on Linux (Foundation in Swift 6.3.1).
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.domain)
        hasher.combine(_nsError.code)
    }

    /// The hash value.
    ///
    /// This property is necessary because Foundation's implementation would hash the wrapped error.
    public var hashValue: Int {
        var hasher = Hasher()
        hash(into: &hasher)
        return hasher.finalize()
    }
}

extension LAError.Code: _ErrorCodeProtocol {
    /// The error type of these codes.
    public typealias _ErrorType = LAError
}

// Without this, `nsError as? LAError` and `laError as? NSError` are nil on Linux.
extension LAError: _ObjectiveCBridgeable {
    /// The Objective-C class that this type is bridged to.
    public typealias _ObjectiveCType = NSError

    /// The wrapped error.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Converts an `NSError` in this domain.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        guard _conditionallyBridgeFromObjectiveC(source, result: &result) else {
            preconditionFailure("an NSError in the domain \(source.domain) is not an LAError")
        }
    }

    /// Converts an `NSError` if it is in this domain.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
        guard source.domain == LAErrorDomain else { return false }
        result = LAError(_nsError: source)
        return true
    }

    /// Converts an `NSError` that must be in this domain.
    ///
    /// Swift's bridging requires a trap for another one, as in Foundation: the compiler calls this for a cast that the
    /// program declares safe.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        var result: LAError?
        guard let source else { preconditionFailure("nil is not an LAError") }
        _forceBridgeFromObjectiveC(source, result: &result)
        guard let result else { preconditionFailure("bridging returned nil") }
        return result
    }
}
