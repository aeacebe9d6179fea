// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlTPM
package import WhorlService

/// A proof, provided by the owner of a profile, that unlocks items.
///
/// Only `WhorlEngine` creates proofs of a finger, after a match (a test checks that nothing else does). Only
/// ``Vault/verify(_:of:)`` creates proofs of a passcode. Without a proof, the vault does not use the authority for an
/// item that requires a finger.
///
/// A proof of a finger is a claim by this process, which the TPM accepts together with the authority's secret. A proof
/// of a passcode contains the value that the TPM itself compares.
package struct OwnerProof: Sendable {
    /// The profile whose owner provided the proof.
    package let profile: String
    /// Whether the proof includes a match of an enrolled finger.
    package let showsFinger: Bool
    let passcode: ShownPasscode?

    /// A passcode in the form that the TPM compares.
    struct ShownPasscode: Sendable {
        let object: TPMObject
        let authorization: SecretBox
    }

    init(profile: String, showsFinger: Bool = false, passcode: ShownPasscode? = nil) {
        self.profile = profile
        self.showsFinger = showsFinger
        self.passcode = passcode
    }

    /// Creates an empty proof, which unlocks items without access control.
    package static func nothing(of profile: String) -> OwnerProof { OwnerProof(profile: profile) }

    /// Creates the proof that one of the profile's enrolled fingers has just matched.
    package static func matchedFinger(of profile: String) -> OwnerProof {
        OwnerProof(profile: profile, showsFinger: true)
    }

    /// Whether the proof includes the passcode.
    package var showsPasscode: Bool { passcode != nil }

    /// Returns a combination of two proofs, or `nil` if they belong to different profiles.
    package func and(_ other: OwnerProof) -> OwnerProof? {
        guard other.profile == profile else { return nil }
        return OwnerProof(
            profile: profile,
            showsFinger: showsFinger || other.showsFinger,
            passcode: passcode ?? other.passcode
        )
    }

    /// Returns whether the proof satisfies a way to unlock an item, as far as that can be known without the TPM.
    func meets(_ way: AccessWay, _ binding: ItemBinding) -> Bool {
        if way.needsBiometry && !showsFinger { return false }
        guard way.contains(.devicePasscode) else { return true }
        // An item that was created with an earlier passcode, since removed, does not accept this one.
        return passcode.map { $0.object.name == binding.passcode } ?? false
    }
}

extension OwnerProof {
    /// The requirements that the proof satisfies.
    ///
    /// The TPM decides whether a finger belongs to the current set.
    package var shown: AccessWay {
        var shown: AccessWay = []
        if showsFinger { shown.formUnion(.biometryCurrentSet) }
        if showsPasscode { shown.formUnion(.devicePasscode) }
        return shown
    }
}
