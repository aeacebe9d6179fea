// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import WhorlIPC
import WhorlService

/// Items that a service stores under a name.
struct RemoteNamedItems: NamedItemService {
    let client: ServiceClient

    func prepare() async throws(VaultError) {
        _ = try await client.call(ItemInterface.prepare, NoValue(), failing: VaultError.self)
    }

    func add(
        _ item: NewItem,
        as id: ItemID,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(VaultError) -> SigningKeyPublic? {
        let (making, attachments) = try ItemInterface.Making.attaching(item, access, applicationPassword)
        return try await client.call(
            ItemInterface.add,
            .init(id: id, item: making),
            attachments,
            failing: VaultError.self
        ).parameters.value
    }

    func items() async throws(VaultError) -> [VaultItem] {
        try await client.call(ItemInterface.list, NoValue(), failing: VaultError.self).parameters.value
    }

    func access(of id: ItemID) async throws(VaultError) -> AccessControl {
        try await client.call(ItemInterface.access, .init(id), failing: VaultError.self).parameters.value
    }

    func publicKey(of id: ItemID) async throws(VaultError) -> SigningKeyPublic {
        try await client.call(ItemInterface.publicKey, .init(id), failing: VaultError.self).parameters.value
    }

    func delete(_ id: ItemID) async throws(VaultError) {
        _ = try await client.call(ItemInterface.delete, .init(id), failing: VaultError.self)
    }
}
