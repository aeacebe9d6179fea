// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

extension ServiceHost {
    func addNamedItems(_ router: inout Router) {
        onItems(&router, ItemInterface.prepare) { (_, _, items) async throws(VaultError) in
            try await items.prepare()
            return NoValue()
        }
        router.on(ItemInterface.add) {
            (adding, call) async throws(ServiceRefusal) in
            // A kind that does not fit is refused here: behind the wall it is a programmer's mistake.
            guard adding.id.kind == adding.item.kind else { throw .invalidParameter("id.kind") }
            let services = try services(call.client.user)
            let confinement = try rules.confinement(of: call.client)
            let item = try call.newItem(adding.item)
            let password = try call.secretBox(at: adding.item.applicationPassword)
            return Optionally(
                try await refusing { () async throws(VaultError) in
                    try await services.namedItems.add(
                        item,
                        as: NameSpace(services.profile, confinement).stored(adding.id),
                        access: adding.item.access,
                        applicationPassword: password
                    )
                }
            )
        }
        onItems(&router, ItemInterface.list) { (_, names, items) async throws(VaultError) in
            Valued(try await items.items().compactMap { names.confinement.shown($0) })
        }
        onItems(&router, ItemInterface.access) { (id, names, items) async throws(VaultError) in
            Valued(try await items.access(of: names.stored(id.value)))
        }
        onItems(&router, ItemInterface.publicKey) { (id, names, items) async throws(VaultError) in
            Valued(try await items.publicKey(of: names.stored(id.value)))
        }
        onItems(&router, ItemInterface.delete) { (id, names, items) async throws(VaultError) in
            try await items.delete(names.stored(id.value))
            return NoValue()
        }
    }

    private func onItems<Parameters, Reply>(
        _ router: inout Router,
        _ method: ServiceMethod<Parameters, Reply>,
        _ body:
            @escaping @Sendable (Parameters, NameSpace, any NamedItemService) async throws(VaultError)
            -> Reply
    ) {
        router.on(method) {
            (parameters, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let names = NameSpace(services.profile, try rules.confinement(of: call.client))
            return try await refusing { () async throws(VaultError) in
                try await body(parameters, names, services.namedItems)
            }
        }
    }
}
