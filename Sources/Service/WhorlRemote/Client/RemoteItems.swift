// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import WhorlIPC
import WhorlService

/// Items that a service opens.
struct RemoteItems: ItemService {
    let client: ServiceClient

    func make(
        _ item: NewItem,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SealedItem {
        let (making, attachments) = try ItemInterface.Making.attaching(item, access, applicationPassword)
        let reply = try await client.call(ItemInterface.make, making, attachments)
        return try reply.item()
    }

    func chipIdentity() async throws(ServiceError) -> ChipIdentity {
        try await client.call(ItemInterface.chipIdentity, NoValue()).parameters
    }

    func makeKey(
        access: AccessControl,
        attestedFor credential: ChipCredential
    ) async throws(ServiceError) -> AttestedKey {
        try await client.call(
            ItemInterface.makeAttested,
            .init(access: access, credential: credential)
        ).parameters
    }

    func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem {
        var attachments = Attachments()
        let place: Int = try attachments.add(SecretBox(SecretBytes(copying: encoded.bytes)))
        return try client.callBlocking(ItemInterface.decode, .init(place), attachments).item()
    }

    func standing(of items: [SealedItem]) async throws(ServiceError) -> [VaultItem.Standing] {
        var standings: [VaultItem.Standing] = []
        // A few at a time, so that each call stays small.
        for start in stride(from: 0, to: items.count, by: ItemInterface.mostItems) {
            let part = items[start..<min(start + ItemInterface.mostItems, items.count)]
            var attachments = Attachments()
            var forms: [AttachedItem] = []
            for item in part { forms.append(try attachments.add(item)) }
            let reply = try await client.call(ItemInterface.standing, .init(forms), attachments)
            guard reply.parameters.value.count == part.count else { throw ServiceError(.malformed) }
            standings += reply.parameters.value
        }
        return standings
    }

    func use(
        _ item: ProtectedItem,
        for use: ItemUse,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Released<ItemProduct> {
        let asking = await OwnerInterface.Asking(request.evaluation, client)
        var attachments = Attachments()
        let password = try attachments.add(request.applicationPassword)
        let (id, sealed): (ItemID?, AttachedItem?) =
            switch item {
            case .named(let id): (id, nil)
            case .sealed(let sealed): (nil, try attachments.add(sealed))
            }
        let using = ItemInterface.Using(
            id: id,
            sealed: sealed,
            use: use,
            asking: asking,
            applicationPassword: password
        )
        let reply = try await client.callPrompting(
            ItemInterface.use,
            using,
            attachments,
            presenter: presenter
        )
        return Released(try reply.product(), after: reply.parameters.evaluations)
    }
}

extension ItemInterface {
    /// The most items of one call, whose bytes may each need a descriptor.
    static let mostItems = 8
}

extension ItemInterface.Making {
    /// Describes an item that is to be made, with its secrets beside the call.
    static func attaching(
        _ item: NewItem,
        _ access: AccessControl,
        _ applicationPassword: SecretBox?
    ) throws(ServiceError) -> (ItemInterface.Making, Attachments) {
        var attachments = Attachments()
        let password = try attachments.add(applicationPassword)
        let (kind, place): (ItemKind, Int?) =
            switch item {
            case .secret(let secret): (.secret, try attachments.add(secret))
            case .key: (.key, nil)
            }
        let making = Self(kind: kind, secret: place, access: access, applicationPassword: password)
        return (making, attachments)
    }
}

extension CallReply<AttachedItem> {
    /// The item that was answered.
    fileprivate func item() throws(ServiceError) -> SealedItem { try parameters.whole(secret(at:)) }
}

extension CallReply<ItemInterface.Product> {
    /// The product that was answered.
    fileprivate func product() throws(ServiceError) -> ItemProduct {
        if let place = parameters.secret {
            return .secret(SecretBox(try secret(at: place)))
        }
        guard let signature = parameters.signature else { throw ServiceError(.malformed) }
        return .signature(signature)
    }
}

/// Items that a service stores under a name.
struct RemoteNamedItems: NamedItemService {
    let client: ServiceClient

    func prepare() async throws(ServiceError) {
        _ = try await client.call(ItemInterface.prepare, NoValue())
    }

    func add(
        _ item: NewItem,
        as id: ItemID,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SigningKeyPublic? {
        let (making, attachments) = try ItemInterface.Making.attaching(item, access, applicationPassword)
        return try await client.call(
            ItemInterface.add,
            .init(id: id, item: making),
            attachments
        ).parameters.value
    }

    func items() async throws(ServiceError) -> [VaultItem] {
        try await client.call(ItemInterface.list, NoValue()).parameters.value
    }

    func access(of id: ItemID) async throws(ServiceError) -> AccessControl {
        try await client.call(ItemInterface.access, .init(id)).parameters.value
    }

    func publicKey(of id: ItemID) async throws(ServiceError) -> SigningKeyPublic {
        try await client.call(ItemInterface.publicKey, .init(id)).parameters.value
    }

    func delete(
        _ id: ItemID,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) {
        _ = try await client.callPrompting(
            ItemInterface.delete,
            .init(id: id, request: request),
            presenter: presenter
        )
    }
}
