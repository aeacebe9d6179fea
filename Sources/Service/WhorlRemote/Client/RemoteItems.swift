// SPDX-License-Identifier: Apache-2.0

import Foundation
import SecretMemory
import WhorlIPC
import WhorlService

/// Items that a service opens.
struct RemoteItems: ItemService {
    let client: ServiceClient

    func make(
        _ item: NewItem,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(VaultError) -> SealedItem {
        let (making, attachments) = try ItemInterface.Making.attaching(item, access, applicationPassword)
        let reply = try await client.call(
            ItemInterface.make,
            making,
            attachments,
            failing: VaultError.self
        )
        return try reply.item(failing: VaultError.self)
    }

    func chipIdentity() async throws(VaultError) -> ChipIdentity {
        try await client.call(ItemInterface.chipIdentity, NoValue(), failing: VaultError.self).parameters
    }

    func makeKey(
        access: AccessControl,
        attestedFor credential: ChipCredential
    ) async throws(VaultError) -> AttestedKey {
        try await client.call(
            ItemInterface.makeAttested,
            .init(access: access, credential: credential),
            failing: VaultError.self
        ).parameters
    }

    func sealedItem(encoded: Data) throws(VaultError) -> SealedItem {
        let (place, attachments) = try attached(failing: VaultError.self) {
            (all) throws(SecretDescriptor.Fault) in
            try all.add(SecretBox(SecretBytes(copying: encoded.bytes))) as Int
        }
        return try client.callBlocking(
            ItemInterface.decode,
            .init(place),
            attachments,
            failing: VaultError.self
        ).item(failing: VaultError.self)
    }

    func standing(of items: [SealedItem]) async throws(VaultError) -> [VaultItem.Standing] {
        var standings: [VaultItem.Standing] = []
        // A few at a time, so that each call stays small.
        for start in stride(from: 0, to: items.count, by: ItemInterface.mostItems) {
            let part = items[start..<min(start + ItemInterface.mostItems, items.count)]
            let (parameters, attachments) = try attached(failing: VaultError.self) {
                (all) throws(SecretDescriptor.Fault) in
                var forms: [AttachedItem] = []
                for item in part { forms.append(try all.add(item)) }
                return forms
            }
            let reply = try await client.call(
                ItemInterface.standing,
                .init(parameters),
                attachments,
                failing: VaultError.self
            )
            guard reply.parameters.value.count == part.count else { throw VaultError(unanswered: .malformed) }
            standings += reply.parameters.value
        }
        return standings
    }

    func use(
        _ item: ProtectedItem,
        for use: ItemUse,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<ItemProduct> {
        let asking = await OwnerInterface.Asking(request.evaluation, client)
        let (using, attachments) = try attached(failing: ReleaseError.self) {
            (all) throws(SecretDescriptor.Fault) in
            let password = try all.add(request.applicationPassword)
            switch item {
            case .named(let id):
                return ItemInterface.Using(
                    id: id,
                    sealed: nil,
                    use: use,
                    asking: asking,
                    applicationPassword: password
                )
            case .sealed(let sealed):
                return ItemInterface.Using(
                    id: nil,
                    sealed: try all.add(sealed),
                    use: use,
                    asking: asking,
                    applicationPassword: password
                )
            }
        }
        let reply = try await client.callPrompting(
            ItemInterface.use,
            using,
            attachments,
            presenter: presenter,
            failing: ReleaseError.self
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
    ) throws(VaultError) -> (ItemInterface.Making, Attachments) {
        try attached(failing: VaultError.self) { (all) throws(SecretDescriptor.Fault) in
            let password = try all.add(applicationPassword)
            switch item {
            case .secret(let secret):
                return .init(
                    kind: .secret,
                    secret: try all.add(secret) as Int,
                    access: access,
                    applicationPassword: password
                )
            case .key:
                return .init(kind: .key, secret: nil, access: access, applicationPassword: password)
            }
        }
    }
}

extension CallReply<AttachedItem> {
    /// The item that was answered.
    fileprivate func item<Failure: RemoteFailure>(failing: Failure.Type) throws(Failure) -> SealedItem {
        try parameters.whole { (place) throws(Failure) in try secret(at: place, failing: Failure.self) }
    }
}

extension CallReply<ItemInterface.Product> {
    /// The product that was answered.
    fileprivate func product() throws(ReleaseError) -> ItemProduct {
        if let place = parameters.secret {
            return .secret(SecretBox(try secret(at: place, failing: ReleaseError.self)))
        }
        guard let signature = parameters.signature else { throw ReleaseError(unanswered: .malformed) }
        return .signature(signature)
    }
}

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

    func delete(
        _ id: ItemID,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) {
        _ = try await client.callPrompting(
            ItemInterface.delete,
            .init(id: id, request: request),
            presenter: presenter,
            failing: ReleaseError.self
        )
    }
}
