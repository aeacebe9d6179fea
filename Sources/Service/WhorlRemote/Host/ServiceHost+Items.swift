// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSecretMemory
import WhorlIPC
import WhorlService

extension ServiceHost {
    func addItems(_ router: inout GuardedRouter) {
        router.onAttaching(ItemInterface.make) {
            (making, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let item = try call.newItem(making)
            let password = try call.secretBox(at: making.applicationPassword)
            return try await refusing(
                ServiceReply(
                    attaching: try await services.items.make(
                        item,
                        access: making.access,
                        applicationPassword: password
                    )
                )
            )
        }
        asking(&router, ItemInterface.hasChip) { (_, services) async throws(ServiceError) in
            Valued(await services.maintenance.hasChip())
        }
        // The chip's certificate names the machine for good.
        asking(&router, ItemInterface.chipIdentity) {
            (_, services) async throws(ServiceError) in
            try await services.items.chipIdentity()
        }
        asking(&router, ItemInterface.makeAttested) {
            (asked, services) async throws(ServiceError) in
            try await services.items.makeKey(access: asked.access, attestedFor: asked.credential)
        }
        router.onAttaching(ItemInterface.decode) {
            (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let encoded = try call.secret(at: asked.value).withUnsafeBytes { Data($0) }
            return try await refusing(
                ServiceReply(attaching: try services.items.sealedItem(encoded: encoded))
            )
        }
        router.on(ItemInterface.standing) {
            (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            var items: [SealedItem] = []
            for form in asked.value { items.append(try call.item(form)) }
            return Valued(try await refusing(await services.items.standing(of: items)))
        }
        prompting(&router, ItemInterface.use) {
            (using, services, call, presenter) async throws(ServiceRefusal) in
            let names = NameSpace(services.profile, try await rules.confinement(of: call.client))
            let item = try call.item(using, names)
            let request = ReleaseRequest(
                self.request(using.asking, call),
                applicationPassword: try call.secretBox(at: using.applicationPassword)
            )
            let released = try await refusing(
                presenter,
                await services.items.use(item, for: using.use, request, presenter: presenter)
            )
            return try product(released)
        }
    }

    private func product(
        _ released: Released<ItemProduct>
    ) throws(ServiceRefusal) -> (ItemInterface.Product, Attachments) {
        switch released.product {
        case .secret(let secret):
            var attachments = Attachments()
            let place: Int = try refusing(attachments.add(secret))
            return (.init(secret: place, signature: nil, evaluations: released.evaluations), attachments)
        case .signature(let signature):
            return (
                .init(secret: nil, signature: signature, evaluations: released.evaluations), Attachments()
            )
        }
    }
}

extension ServiceReply<AttachedItem> {
    /// Makes a reply of an item.
    fileprivate init(attaching item: SealedItem) throws(ServiceError) {
        var attachments = Attachments()
        let form: AttachedItem = try attachments.add(item)
        self.init(form, descriptors: attachments.descriptors)
    }
}

extension ServiceCall {
    /// The item that a caller brings.
    fileprivate func item(_ form: AttachedItem) throws(ServiceRefusal) -> SealedItem {
        try form.whole(secret(at:))
    }

    /// The item that a caller names or brings.
    fileprivate func item(
        _ using: ItemInterface.Using,
        _ names: NameSpace
    ) throws(ServiceRefusal) -> ProtectedItem {
        switch (using.id, using.sealed) {
        case (let id?, nil):
            return .named(try refusing(names.stored(id)))
        case (nil, let form?):
            return .sealed(try item(form))
        default: throw .invalidParameter("call.id")
        }
    }

    /// The item that is to be made.
    func newItem(_ making: ItemInterface.Making) throws(ServiceRefusal) -> NewItem {
        switch (making.kind, making.secret) {
        case (.secret, let place?): return .secret(try secretBox(at: place))
        case (.key, nil): return .key
        default: throw .invalidParameter("secret")
        }
    }
}

extension ServiceHost {
    func addNamedItems(_ router: inout GuardedRouter) {
        onItems(&router, ItemInterface.prepare) {
            (_, _, items) async throws(ServiceError) in
            try await items.prepare()
            return NoValue()
        }
        router.on(ItemInterface.add) {
            (adding, call) async throws(ServiceRefusal) in
            // A kind that does not fit is refused here: behind the wall it is a programmer's mistake.
            guard adding.id.kind == adding.item.kind else { throw .invalidParameter("id.kind") }
            let services = try services(call.client.user)
            let confinement = try await rules.confinement(of: call.client)
            let item = try call.newItem(adding.item)
            let password = try call.secretBox(at: adding.item.applicationPassword)
            return Optionally(
                try await refusing(
                    await services.namedItems.add(
                        item,
                        as: NameSpace(services.profile, confinement).stored(adding.id),
                        access: adding.item.access,
                        applicationPassword: password
                    )
                )
            )
        }
        onItems(&router, ItemInterface.list) {
            (_, names, items) async throws(ServiceError) in
            Valued(try await items.items().compactMap { names.confinement.shown($0) })
        }
        onItems(&router, ItemInterface.access) {
            (id, names, items) async throws(ServiceError) in
            Valued(try await items.access(of: names.stored(id.value)))
        }
        onItems(&router, ItemInterface.publicKey) {
            (id, names, items) async throws(ServiceError) in
            Valued(try await items.publicKey(of: names.stored(id.value)))
        }
        prompting(&router, ItemInterface.delete) {
            (asked, services, call, presenter) async throws(ServiceRefusal) in
            let names = NameSpace(services.profile, try await rules.confinement(of: call.client))
            let id = try await refusing(names.stored(asked.id))
            try await refusing(
                presenter,
                await services.namedItems.delete(id, request(asked.request), presenter: presenter)
            )
            return (NoValue(), Attachments())
        }
    }

    private func onItems<Parameters, Reply>(
        _ router: inout GuardedRouter,
        _ method: ServiceMethod<Parameters, Reply>,
        _ body:
            @escaping @Sendable (Parameters, NameSpace, any NamedItemService) async throws(ServiceError)
            -> Reply
    ) {
        router.on(method) {
            (parameters, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let names = NameSpace(services.profile, try await rules.confinement(of: call.client))
            return try await refusing(await body(parameters, names, services.namedItems))
        }
    }
}
