// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlTPM
package import WhorlService

/// A proof by the owner of a profile that opens items.
///
/// Only `WhorlEngine` makes a finger's proof, after a match (a test looks for other makers); only
/// ``Vault/verify(_:of:)`` makes a passcode's proof. Without a proof the vault does not use the authority for an item
/// that asks for a finger.
///
/// A finger's proof is a claim of this process, for which the TPM takes the authority's secret. A passcode's proof
/// holds the value that the TPM itself compares.
package struct OwnerProof: Sendable {
    /// The profile whose owner gave the proof.
    package let profile: String
    let showsFinger: Bool
    let passcode: ShownPasscode?

    /// A passcode in the form that the TPM takes.
    struct ShownPasscode: Sendable {
        let object: TPMObject
        let authorization: SecretBox
    }

    init(profile: String, showsFinger: Bool = false, passcode: ShownPasscode? = nil) {
        self.profile = profile
        self.showsFinger = showsFinger
        self.passcode = passcode
    }

    /// Creates an empty proof, which opens items without access control.
    package static func nothing(of profile: String) -> OwnerProof { OwnerProof(profile: profile) }

    /// Creates the proof that one of the profile's enrolled fingers has just matched.
    package static func matchedFinger(of profile: String) -> OwnerProof {
        OwnerProof(profile: profile, showsFinger: true)
    }

    /// Whether the passcode was shown.
    package var showsPasscode: Bool { passcode != nil }

    /// Combines two proofs; `nil` if they belong to different profiles.
    package func and(_ other: OwnerProof) -> OwnerProof? {
        guard other.profile == profile else { return nil }
        return OwnerProof(
            profile: profile,
            showsFinger: showsFinger || other.showsFinger,
            passcode: passcode ?? other.passcode
        )
    }

    /// Whether the proof meets a way, as far as that is known without the TPM.
    func meets(_ way: AccessWay, _ binding: ItemBinding) -> Bool {
        if way.needsBiometry && !showsFinger { return false }
        guard way.contains(.devicePasscode) else { return true }
        // An item that was made under an earlier passcode, which has since been removed, does not accept this one.
        return passcode.map { $0.object.name == binding.passcode } ?? false
    }
}

extension OwnerProof {
    /// The parts of a way that the proof meets; the TPM decides whether a finger belongs to the present set.
    package var shown: AccessWay {
        var shown: AccessWay = []
        if showsFinger { shown.formUnion(.biometryCurrentSet) }
        if showsPasscode { shown.formUnion(.devicePasscode) }
        return shown
    }
}
