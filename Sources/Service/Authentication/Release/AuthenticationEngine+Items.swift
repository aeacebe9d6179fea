// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SecretMemory
public import Vault

/// The release of secrets, signatures and shared secrets to the owner of items.
extension AuthenticationEngine {
    /// Asks the person for what a secret's access control requires, and returns the secret that the chip then releases.
    @concurrent
    public func secret(
        in item: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<SecretBox> {
        let password = request.applicationPassword
        return try await ItemRelease(engine: self, request: request, presenter: presenter).run(item) {
            vault,
            proof throws(VaultError) in
            switch item {
            case .stored(let id): try await vault.secret(id, shown: proof, applicationPassword: password)
            case .sealed(let item):
                try await vault.secret(in: item, shown: proof, applicationPassword: password)
            }
        }
    }

    /// Asks the person for what a key's access control requires, and has the chip sign with the key.
    @concurrent
    public func signature(
        over digest: Data,
        with key: ProtectedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<Signature> {
        // The person is not asked if the digest cannot be signed.
        guard digest.count == 32 else { throw .vault(VaultError(.digestWrongSize(bytes: digest.count))) }
        let password = request.applicationPassword
        return try await ItemRelease(engine: self, request: request, presenter: presenter).run(key) {
            vault,
            proof throws(VaultError) in
            switch key {
            case .stored(let id):
                try await vault.sign(digest: digest, with: id, shown: proof, applicationPassword: password)
            case .sealed(let key):
                try await vault.sign(digest: digest, with: key, shown: proof, applicationPassword: password)
            }
        }
    }

    /// Asks the person for what the key's access control requires, and has the chip multiply another party's public key
    /// with it.
    @concurrent
    public func sharedSecret(
        with publicKey: Data,
        of key: SealedItem,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<SecretBox> {
        do throws(VaultError) { try Vault.check(publicKey: publicKey) } catch { throw .vault(error) }
        return try await ItemRelease(engine: self, request: request, presenter: presenter).run(.sealed(key)) {
            vault,
            proof throws(VaultError) in
            try await vault.sharedSecret(
                with: publicKey,
                of: key,
                shown: proof,
                applicationPassword: request.applicationPassword
            )
        }
    }
}
