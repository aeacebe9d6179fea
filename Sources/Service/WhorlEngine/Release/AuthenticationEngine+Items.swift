// SPDX-License-Identifier: Apache-2.0

import Foundation
import SecretMemory
import WhorlVault
public import WhorlService

/// The release of secrets, signatures and shared secrets to the owner of items.
extension AuthenticationEngine {
    /// Asks the person for what an item's access control requires, and returns what the chip then releases.
    @concurrent
    public func use(
        _ item: ProtectedItem,
        for use: ItemUse,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<ItemProduct> {
        // The person is not asked for a use that is not possible.
        do throws(VaultError) { try use.check(item) } catch { throw .vault(error) }
        let password = request.applicationPassword
        return try await ItemRelease(engine: self, request: request, presenter: presenter).run(item) {
            vault,
            proof throws(VaultError) in
            try await vault.product(of: item, for: use, proof, password)
        }
    }
}

extension ItemUse {
    /// Refuses a use that no item of this kind has.
    fileprivate func check(_ item: ProtectedItem) throws(VaultError) {
        switch (self, item) {
        case (.secret, _): return
        case (.signature(let digest), _):
            guard digest.count == 32 else { throw VaultError(.digestWrongSize(bytes: digest.count)) }
        case (.sharedSecret(let publicKey), .sealed): try Vault.check(publicKey: publicKey)
        case (.sharedSecret, .named(let id)):
            throw VaultError(.noSuchItem, id.spoken, cause: "keys with a name sign only")
        }
    }
}

extension Vault {
    /// Returns the product of an item, wherever it is stored.
    fileprivate func product(
        of item: ProtectedItem,
        for use: ItemUse,
        _ proof: OwnerProof,
        _ password: SecretBox?
    ) async throws(VaultError) -> ItemProduct {
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
            throw VaultError(.noSuchItem, id.spoken, cause: "keys with a name sign only")
        }
    }
}
