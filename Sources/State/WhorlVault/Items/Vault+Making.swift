// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlSecretMemory
import WhorlStateStore
import WhorlTPM
import WhorlService

/// The TPM object and binding of a new item that is not stored yet.
struct NewSealedItem: Sendable {
    let binding: ItemBinding
    let object: TPMObject
}

/// Functions that create items by binding the current state into a policy with which the TPM creates an object.
extension Vault {
    /// Creates an object in the TPM that can be used only with the returned bytes.
    ///
    /// The caller must store it while no reset can interfere (``sealing(_:)``).
    func make(
        _ new: NewObject,
        for owner: ItemOwner,
        _ access: AccessControl,
        _ password: SecretBox?,
        under authority: VaultAuthority
    ) async throws(ServiceError) -> NewSealedItem {
        let (binding, object) = try await bind(owner, access, password, under: authority) {
            (commands, policy, auth) throws(TPMError) in
            try commands.create(new, under: authority.root, policy: policy, auth: auth)
        }
        return NewSealedItem(binding: binding, object: object)
    }

    /// Creates a TPM object that has the policy of a new item.
    func bind<Made: Sendable>(
        _ owner: ItemOwner,
        _ access: AccessControl,
        _ password: SecretBox?,
        under authority: VaultAuthority,
        _ create:
            @Sendable (borrowing TPMCommands, PolicyDigest, SecretBox?) throws(TPMError) -> Made
    ) async throws(ServiceError) -> (ItemBinding, Made) {
        let (binding, authorization) = try await binding(owner, access, password)
        guard let policy = ItemPolicy.policy(access, binding, authority: authority.object.name) else {
            throw .accessRefused(because: "it cannot be bound")
        }
        let digest = policy.digest
        let made = try await chip(about: owner.spoken) { commands throws(TPMError) in
            try create(commands, digest, authorization)
        }
        return (binding, made)
    }

    /// Returns the objects that a new item's policy refers to, and the item's own authorization value.
    private func binding(
        _ owner: ItemOwner,
        _ access: AccessControl,
        _ password: SecretBox?
    ) async throws(ServiceError) -> (ItemBinding, SecretBox?) {
        var binding = ItemBinding()
        if access.takesPasscode {
            guard let passcode = try await passcode(of: owner.profile) else {
                throw ServiceError(.passcodeNotSet, owner.profile)
            }
            binding.passcode = passcode.object.name
        }
        if access.isBoundToCurrentSet {
            binding.generation = try await presentGeneration(of: owner.profile)
        }
        if let pcrs = access.pcrs { binding.boot = try await measurements(pcrs) }
        guard access.needsApplicationPassword else { return (binding, nil) }
        guard let password else { throw ServiceError(.applicationPasswordNeeded, owner.spoken) }
        let derivation = PasscodeDerivation()
        binding.applicationPassword = derivation
        let authorization = try await inTurn { turn async throws(ServiceError) in
            try await derivation.authorization(ofApplicationPassword: password, in: turn)
        }
        return (binding, authorization)
    }

    /// Returns the digest of the registers' current values (32 bytes).
    func measurements(_ pcrs: BootRegisters) async throws(ServiceError) -> Data {
        try await chip { commands throws(TPMError) in
            Data(try commands.readPCRs(try pcrs.selection).digest)
        }
    }
}
