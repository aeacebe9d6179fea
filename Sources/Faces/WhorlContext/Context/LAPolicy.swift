// SPDX-License-Identifier: Apache-2.0

package import WhorlService

/// A policy that an evaluation must meet.
public enum LAPolicy: Int, Sendable, Hashable {
    /// A matching finger only.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// A matching finger, or the owner's passcode.
    case deviceOwnerAuthentication = 2
    /// A paired device nearby.
    ///
    /// Evaluating this policy always fails with ``LAError/companionNotAvailable``, because Linux machines never have
    /// paired devices.
    case deviceOwnerAuthenticationWithCompanion = 3
    /// A matching finger or a paired device. On Linux, this is equivalent to
    /// ``deviceOwnerAuthenticationWithBiometrics``.
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4
    /// A device that is on its owner's wrist.
    ///
    /// Evaluating this policy always fails with ``LAError/biometryNotAvailable``, because Linux machines cannot detect
    /// this.
    case deviceOwnerAuthenticationWithWristDetection = 5

    /// The earlier name of ``deviceOwnerAuthenticationWithCompanion``.
    public static var deviceOwnerAuthenticationWithWatch: LAPolicy { .deviceOwnerAuthenticationWithCompanion }
    /// The earlier name of ``deviceOwnerAuthenticationWithBiometricsOrCompanion``.
    public static var deviceOwnerAuthenticationWithBiometricsOrWatch: LAPolicy {
        .deviceOwnerAuthenticationWithBiometricsOrCompanion
    }
}

extension LAPolicy {
    /// Returns the policy to request from the service.
    ///
    /// - Throws: An error for a policy that no Linux machine can meet.
    package func serviceRequest() throws(LAError) -> Policy {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion:
            return .biometrics
        case .deviceOwnerAuthentication:
            return .deviceOwner
        case .deviceOwnerAuthenticationWithCompanion:
            throw LAError(
                .companionNotAvailable,
                message: "No companion device paired.",
                recovery: "Use a policy with biometrics."
            )
        case .deviceOwnerAuthenticationWithWristDetection:
            throw LAError(
                .biometryNotAvailable,
                message: "This device is not a watch.",
                recovery: "Use a policy with biometrics."
            )
        }
    }

    /// Whether only biometry can meet this policy.
    ///
    /// If so, a successful preflight sets the domain state.
    package var isBiometric: Bool {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthenticationWithBiometricsOrCompanion:
            true
        case .deviceOwnerAuthentication, .deviceOwnerAuthenticationWithCompanion,
            .deviceOwnerAuthenticationWithWristDetection:
            false
        }
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
