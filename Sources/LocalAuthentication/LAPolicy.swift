// SPDX-License-Identifier: Apache-2.0

/// What somebody must show before an evaluation succeeds.
public enum LAPolicy: Int, Sendable, Hashable {
    /// A matching finger, nothing else.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// A matching finger, or the owner's passcode.
    case deviceOwnerAuthentication = 2
    /// A paired device. There is none here: it ends with ``LAError/companionNotAvailable``.
    case deviceOwnerAuthenticationWithCompanion = 3
    /// A finger or a paired device. Here it is the same as ``deviceOwnerAuthenticationWithBiometrics``.
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4
    /// A watch on the wrist. There is none here: it ends with ``LAError/companionNotAvailable``.
    case deviceOwnerAuthenticationWithWristDetection = 5

    /// The earlier name of ``deviceOwnerAuthenticationWithCompanion``.
    public static var deviceOwnerAuthenticationWithWatch: LAPolicy { .deviceOwnerAuthenticationWithCompanion }
    /// The earlier name of ``deviceOwnerAuthenticationWithBiometricsOrCompanion``.
    public static var deviceOwnerAuthenticationWithBiometricsOrWatch: LAPolicy {
        .deviceOwnerAuthenticationWithBiometricsOrCompanion
    }
}

/// The raw value of ``LAPolicy/deviceOwnerAuthenticationWithBiometrics``.
public let kLAPolicyDeviceOwnerAuthenticationWithBiometrics: Int32 = 1
/// The raw value of ``LAPolicy/deviceOwnerAuthentication``.
public let kLAPolicyDeviceOwnerAuthentication: Int32 = 2
/// The raw value of ``LAPolicy/deviceOwnerAuthenticationWithWatch``.
public let kLAPolicyDeviceOwnerAuthenticationWithWatch: Int32 = 3
/// The raw value of ``LAPolicy/deviceOwnerAuthenticationWithCompanion``.
public let kLAPolicyDeviceOwnerAuthenticationWithCompanion: Int32 = 3
/// The raw value of ``LAPolicy/deviceOwnerAuthenticationWithBiometricsOrWatch``.
public let kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch: Int32 = 4
/// The raw value of ``LAPolicy/deviceOwnerAuthenticationWithBiometricsOrCompanion``.
public let kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion: Int32 = 4
/// The raw value of ``LAPolicy/deviceOwnerAuthenticationWithWristDetection``.
public let kLAPolicyDeviceOwnerAuthenticationWithWristDetection: Int32 = 5
