// SPDX-License-Identifier: Apache-2.0

// The codes as `LAError.userCancel`: in `catch`, in `switch`, and compared with an error's `code`.
extension LAError {
    /// The finger did not match, three times.
    public static var authenticationFailed: Code { .authenticationFailed }
    /// The person pressed cancel.
    public static var userCancel: Code { .userCancel }
    /// The person pressed the fallback button, and the program goes on in its own way.
    public static var userFallback: Code { .userFallback }
    /// The time ran out, the reader is in use, or the context has an evaluation that has not ended.
    public static var systemCancel: Code { .systemCancel }
    /// No passcode is set, and nothing else can meet the policy.
    public static var passcodeNotSet: Code { .passcodeNotSet }
    /// Biometry cannot be used; the underlying error says why.
    public static var biometryNotAvailable: Code { .biometryNotAvailable }
    /// No finger is enrolled for the connected reader.
    public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
    /// Too many fingers did not match.
    public static var biometryLockout: Code { .biometryLockout }
    /// The context was invalidated or released, or the task cancelled, during the evaluation.
    public static var appCancel: Code { .appCancel }
    /// The call was wrong: the context was invalidated before, or the reason is empty.
    public static var invalidContext: Code { .invalidContext }
    /// No paired device is near; a Linux machine never has one.
    public static var companionNotAvailable: Code { .companionNotAvailable }
    /// No removable reader is paired; Whorl never returns this.
    public static var biometryNotPaired: Code { .biometryNotPaired }
    /// The reader that the fingers are enrolled for is not connected.
    public static var biometryDisconnected: Code { .biometryDisconnected }
    /// An embedded prompt has a bad size; Whorl never returns this.
    public static var invalidDimensions: Code { .invalidDimensions }
    /// A prompt would be needed and cannot be shown, or must not be.
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
