// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import MockReader
internal import WhorlEngine
internal import WhorlEnrollment
internal import WhorlFingerprint
package import WhorlService

// The operations of the module Whorl: items with names, and the enrolled fingers.
extension SimulatedMachine {
    /// The handlers of all operations that a test device performs.
    package var allHandlers: HandlerTable {
        var table = handlers
        table.on(addNamed)
        table.on(listNamed)
        table.on(publicKey)
        table.on(deleteNamed)
        table.on(listFingers)
        table.on(enrollmentState)
        table.on(enroll)
        table.on(removeFingers)
        return table
    }

    /// Returns the item with a name.
    func named(_ id: ItemID) throws(ServiceError) -> TestVault.NamedItem {
        guard let item = vault.named[id] else { throw ServiceError(.noSuchItem, id.spoken) }
        return item
    }

    private func addNamed(_ asked: AddItem) async throws(ServiceError) -> SigningKeyPublic? {
        let new = asked.item
        guard vault.named[asked.id] == nil else { throw ServiceError(.itemExists, asked.id.spoken) }
        let item = try await make(
            new.item,
            access: new.access,
            applicationPassword: new.applicationPassword
        )
        guard vault.name(item, asked.id) else { throw ServiceError(.itemExists, asked.id.spoken) }
        return item.publicKey.flatMap(SigningKeyPublic.init(x963:))
    }

    private func listNamed(_: ListItems) async throws(ServiceError) -> [VaultItem] {
        var items: [VaultItem] = []
        for (id, named) in vault.named {
            items.append(
                VaultItem(
                    id: id,
                    access: named.item.access,
                    createdAt: named.createdAt,
                    standing: try await standing(of: [named.item])[0]
                )
            )
        }
        return items.sorted { ($0.id.kind.rawValue, $0.id.name) < ($1.id.kind.rawValue, $1.id.name) }
    }

    private func publicKey(_ asked: ReadPublicKey) async throws(ServiceError) -> SigningKeyPublic {
        guard let point = try named(asked.id).item.publicKey, let key = SigningKeyPublic(x963: point) else {
            throw ServiceError(.noSuchItem, asked.id.spoken)
        }
        return key
    }

    private func deleteNamed(_ asked: DeleteItem, _ prompter: Prompter) async throws(ServiceError) {
        let item = try named(asked.id).item
        if item.access.asking() != .nothing, try await standing(of: [item]) == [.valid] {
            try await engine.requireOwner(
                for: .deleteItem(asked.id.name.text),
                to: "delete the \(asked.id.spoken)",
                asked.request,
                presenter: prompter.presenter
            )
        }
        vault.delete(asked.id)
    }

    private func listFingers(_: ListFingers) async throws(ServiceError) -> [EnrolledFinger] {
        try await state.createdStore().fingers(of: Self.profile)
    }

    private func enrollmentState(_ asked: ReadEnrollmentState) async throws(ServiceError) -> EnrollmentState?
    {
        try await state.createdStore().state(of: Self.profile, application: asked.application.rawValue)
    }

    /// Enrolls a finger, as if the user touched the reader at once.
    private func enroll(_ asked: EnrollFinger, _ prompter: Prompter) async throws(ServiceError)
        -> EnrolledFinger
    {
        let finger = asked.finger.finger
        let store = try await state.createdStore()
        if try await fingers().contains(finger) {
            throw ServiceError(.fingerExists, details: [.finger: finger.rawValue])
        }
        let consent = try await engine.consent(
            to: .add(finger),
            asked.request,
            presenter: prompter.presenter
        )
        prompter.observer(.began(reader.info))
        prompter.observer(.scan(.touch))
        prompter.observer(.scan(.stage(completed: 1, total: 1)))
        return try await store.add(
            template(of: finger),
            as: finger,
            label: asked.finger.label,
            profile: Self.profile,
            on: reader.info,
            at: Date(),
            consent: consent
        )
    }

    private func removeFingers(
        _ asked: RemoveFingers,
        _ prompter: Prompter
    ) async throws(ServiceError) -> [EnrolledFinger] {
        let enroller = engine.enroller(try await state.createdStore(), for: asked.request.application)
        let consent = try await engine.consent(
            to: .remove(asked.selection),
            asked.request,
            presenter: prompter.presenter
        )
        return try await enroller.remove(
            asked.selection,
            profile: Self.profile,
            readers: [],
            consent: consent
        )
    }
}
