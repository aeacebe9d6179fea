// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
package import WhorlSecretMemory
import WhorlStateStore
import WhorlEnrollment
package import WhorlService
import WhorlVault

/// The functions that release secrets, signatures and shared secrets to the owner of items.
extension AuthenticationEngine {
    /// Prompts for the methods that an item's access control requires, and returns the product that the TPM then
    /// releases.
    @concurrent
    package func use(
        _ item: ProtectedItem,
        for use: ItemUse,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<ItemProduct> {
        // Do not prompt for a use that is impossible.
        do throws(ServiceError) { try use.check(item) } catch { throw error }
        let password = request.applicationPassword
        var request = request
        request.evaluation.purpose = item.purpose(named: request.evaluation.purpose, of: use)
        return try await ItemRelease(engine: self, request: request, presenter: presenter).release(item) {
            vault,
            proof throws(ServiceError) in
            try await vault.product(of: item, for: use, proof, password)
        }
    }

    /// Prompts for the methods that a secret's access control requires, and returns the secret.
    ///
    /// It is for secrets that the service stores for its own operations; the request has the purpose of the operation.
    @concurrent
    package func unseal(
        _ item: SealedItem,
        _ request: EvaluationRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> SecretBox {
        let release = ItemRelease(engine: self, request: ReleaseRequest(request), presenter: presenter)
        return try await release.release(.sealed(item)) { vault, proof throws(ServiceError) in
            try await vault.secret(in: item, shown: proof)
        }.product
    }
}

extension ProtectedItem {
    /// Returns the purpose of a touch that unlocks the item, regardless of what the program claims.
    ///
    /// The purpose for a named item is to unlock that item. For an item that the program supplies, the purpose is to
    /// unlock the program's items, unless the program signs in with it.
    ///
    /// - Parameters:
    ///   - purpose: The purpose that the program specifies.
    ///   - use: The use of the item.
    /// - Returns: The purpose to show in the prompt.
    package func purpose(named purpose: TouchPurpose, of use: ItemUse) -> TouchPurpose {
        switch (self, purpose, use) {
        case (.named(let id), .item(let name), _) where id.name.text.hasSuffix(":\(name)"): .item(name)
        case (.named(let id), _, _): .item(id.name.text)
        case (.sealed, .signIn, .signature): purpose
        case (.sealed, _, _): .storedByProgram
        }
    }
}

extension ItemUse {
    /// Checks that this kind of item supports the use; throws if it does not.
    fileprivate func check(_ item: ProtectedItem) throws(ServiceError) {
        if case .named(let id) = item, id.kind == .sshKey {
            throw ServiceError(.noSuchItem, id.spoken, cause: "SSH keys sign only requests of SSH")
        }
        switch (self, item) {
        case (.secret, _): return
        case (.signature(let digest), _):
            guard digest.count == 32 else {
                throw ServiceError(.digestWrongSize, details: [.bytes: "\(digest.count)"])
            }
        case (.sharedSecret(let publicKey), .sealed): try Vault.check(publicKey: publicKey)
        case (.sharedSecret, .named(let id)):
            throw ServiceError(.noSuchItem, id.spoken, cause: "named keys can only sign")
        }
    }
}

extension Vault {
    /// Returns the product of an item, regardless of where the item is stored.
    fileprivate func product(
        of item: ProtectedItem,
        for use: ItemUse,
        _ proof: OwnerProof,
        _ password: SecretBox?
    ) async throws(ServiceError) -> ItemProduct {
        switch (item, use) {
        case (.named(let id), .secret):
            .secret(try await secret(id, shown: proof, applicationPassword: password))
        case (.sealed(let item), .secret):
            .secret(try await secret(in: item, shown: proof, applicationPassword: password))
        case (.named(let id), .signature(let digest)):
            .signature(try await sign(digest: digest, with: id, shown: proof, applicationPassword: password))
        case (.sealed(let key), .signature(let digest)):
            .signature(try await sign(digest: digest, with: key, shown: proof, applicationPassword: password))
        case (.sealed(let key), .sharedSecret(let publicKey)):
            .secret(
                try await sharedSecret(with: publicKey, of: key, shown: proof, applicationPassword: password)
            )
        case (.named(let id), .sharedSecret):
            throw ServiceError(.noSuchItem, id.spoken, cause: "named keys can only sign")
        }
    }
}

/// The functions that create and check items that the caller stores.
extension AuthenticationEngine {
    /// Creates an item in the TPM that the caller stores.
    ///
    /// If nothing was ever stored, the vault is created.
    @concurrent
    package func make(
        _ item: NewItem,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SealedItem {
        let vault = try await vaultForNew(access)
        return switch item {
        case .secret(let secret):
            try await vault.seal(
                secret,
                of: profile,
                access: access,
                applicationPassword: applicationPassword
            )
        case .key:
            try await vault.makeKey(of: profile, access: access, applicationPassword: applicationPassword)
        }
    }

    /// Decodes bytes in the format of a sealed item, regardless of its vault.
    package func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem {
        try SealedItem(encoded: encoded)
    }

    /// Returns the states of sealed items.
    ///
    /// The owner is not prompted. The TPM is used only if the database shows that the fingers have changed.
    @concurrent
    package func standing(of items: [SealedItem]) async throws(ServiceError) -> [VaultItem.Standing] {
        guard let vault = try await self.vault.existingVault() else { return items.map { _ in .tampered } }
        guard let generation = try await state.existingStore()?.recordedGeneration(of: profile) else {
            return items.map { _ in .tampered }
        }
        return try await vault.standing(of: items, profile: profile, generation: generation)
    }

    /// Returns the vault, prepared for binding a new item to the conditions of its access control.
    ///
    /// If fingers were enrolled before a TPM was used, their counter is created when they are read.
    func vaultForNew(_ access: AccessControl) async throws(ServiceError) -> Vault {
        let vault = try await self.vault.createdVault()
        guard access.isBoundToCurrentSet else { return vault }
        try await vault.provision()
        let fingers = try await state.existingStore()?.snapshot(of: profile)
        guard let fingers, !fingers.fingers.isEmpty else {
            throw .accessRefused(because: "no finger is enrolled that it could be bound to")
        }
        return vault
    }
}

/// The functions that return the TPM's evidence of how it protects a key.
extension AuthenticationEngine {
    /// Returns the TPM's identity with a new attestation key, without prompting the owner.
    @concurrent
    package func chipIdentity() async throws(ServiceError) -> ChipIdentity {
        try await vault.createdVault().chipIdentity()
    }

    /// Creates a key that the caller stores, and has the TPM attest how it is protected, without prompting the owner.
    @concurrent
    package func makeKey(
        access: AccessControl,
        attestedFor credential: ChipCredential
    ) async throws(ServiceError) -> AttestedKey {
        try await vaultForNew(access).makeKey(of: profile, access: access, attestedFor: credential)
    }
}
