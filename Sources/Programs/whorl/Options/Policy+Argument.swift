// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import Authentication

extension Policy: ExpressibleByArgument {
    /// Our names, or Apple's long ones.
    public init?(argument: String) {
        switch argument {
        case "biometrics", "deviceOwnerAuthenticationWithBiometrics": self = .biometrics
        case "device-owner", "deviceOwnerAuthentication": self = .deviceOwner
        default: return nil
        }
    }

    /// What help texts show.
    public static var allValueStrings: [String] { allCases.map(\.rawValue) }
}
