// SPDX-License-Identifier: Apache-2.0

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
