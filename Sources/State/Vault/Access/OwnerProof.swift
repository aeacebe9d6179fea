// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import TPM

/// What the owner of a profile has shown, as far as it opens items.
///
/// A finger's proof is made by `Authentication` alone, after a match (a test looks for others); a passcode's proof is
/// made by ``Vault/verify(_:of:)`` alone. Without a proof the vault does not use the authority for an item that asks
/// for a finger.
///
/// A finger's proof is this process's word, and the chip takes the authority's secret for it. A passcode's proof holds
/// what the chip itself compares.
public struct OwnerProof: Sendable {
    /// Who has shown it.
    public let profile: String
    let showsFinger: Bool
    let passcode: ShownPasscode?

    /// A passcode as the chip takes it.
    struct ShownPasscode: Sendable {
        let object: TPMObject
        let authorization: SecretBox
    }

    init(profile: String, showsFinger: Bool = false, passcode: ShownPasscode? = nil) {
        self.profile = profile
        self.showsFinger = showsFinger
        self.passcode = passcode
    }

    /// Nothing was shown; it opens items without access control.
    public static func nothing(of profile: String) -> OwnerProof { OwnerProof(profile: profile) }

    /// One of the profile's enrolled fingers has matched just now.
    package static func matchedFinger(of profile: String) -> OwnerProof {
        OwnerProof(profile: profile, showsFinger: true)
    }

    /// Whether the passcode was shown.
    package var showsPasscode: Bool { passcode != nil }

    /// Both together; `nil` when they are of two profiles.
    public func and(_ other: OwnerProof) -> OwnerProof? {
        guard other.profile == profile else { return nil }
        return OwnerProof(
            profile: profile,
            showsFinger: showsFinger || other.showsFinger,
            passcode: passcode ?? other.passcode
        )
    }

    /// Whether it meets a way, as far as that can be told without the chip.
    func meets(_ way: AccessWay, _ binding: ItemBinding) -> Bool {
        if way.needsBiometry && !showsFinger { return false }
        guard way.contains(.devicePasscode) else { return true }
        // An item that was made under an earlier passcode, which was removed since, does not know this one.
        return passcode.map { $0.object.name == binding.passcode } ?? false
    }
}
