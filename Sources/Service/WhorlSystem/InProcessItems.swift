// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import WhorlVault
import WhorlService

/// The named items of a profile, in the vault of this process.
struct InProcessItems: NamedItemService {
    let profile: String
    let state: ProtectedState

    func prepare() async throws(VaultError) { _ = try await state.createdVault() }

    func add(
        _ item: NewItem,
        as id: ItemID,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(VaultError) -> SigningKeyPublic? {
        let vault = try await state.createdVault()
        switch item {
        case .secret(let secret):
            try await vault.add(secret, as: id, access: access, applicationPassword: applicationPassword)
            return nil
        case .key:
            return try await vault.createKey(id, access: access, applicationPassword: applicationPassword)
        }
    }

    func items() async throws(VaultError) -> [VaultItem] {
        guard let vault = try await state.existingVault() else { return [] }
        return try await vault.items(of: profile)
    }

    func access(of id: ItemID) async throws(VaultError) -> AccessControl {
        // An item that is about to be opened needs the chip: its absence is the better error.
        guard let vault = try await state.vaultInChip() else { throw VaultError(.noSuchItem, id.spoken) }
        return try await vault.access(of: id)
    }

    func publicKey(of id: ItemID) async throws(VaultError) -> SigningKeyPublic {
        try await stored(id).publicKey(of: id)
    }

    func delete(_ id: ItemID) async throws(VaultError) { try await stored(id).delete(id) }

    private func stored(_ id: ItemID) async throws(VaultError) -> Vault {
        guard let vault = try await state.existingVault() else { throw VaultError(.noSuchItem, id.spoken) }
        return vault
    }
}
