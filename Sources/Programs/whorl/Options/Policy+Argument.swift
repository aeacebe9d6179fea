// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import WhorlService

extension Policy: ExpressibleByArgument {
    /// Makes the policy of our name, or of Apple's long one.
    public init?(argument: String) {
        switch argument {
        case "biometrics", "deviceOwnerAuthenticationWithBiometrics": self = .biometrics
        case "device-owner", "deviceOwnerAuthentication": self = .deviceOwner
        default: return nil
        }
    }

    /// The names that help texts show.
    public static var allValueStrings: [String] { allCases.map(\.rawValue) }
}
