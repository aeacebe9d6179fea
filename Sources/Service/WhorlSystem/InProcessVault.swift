// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlSecretMemory
import WhorlEngine
import WhorlService
import WhorlVault

/// The named items of a profile, in the vault of this process.
struct InProcessItems: Sendable {
    let engine: AuthenticationEngine
    let state: ProtectedState

    private var profile: String { engine.profile }

    func add(to table: inout HandlerTable) {
        table.on(prepare)
        table.on(add)
        table.on(list)
        table.on(access)
        table.on(publicKey)
        table.on(delete)
        table.on(addSSHKey)
        table.on(sshKeyRules)
        table.on(pinSSHKey)
        table.on(signForSSH)
    }

    private func prepare(_: PrepareVault) async throws(ServiceError) { _ = try await state.createdVault() }

    private func add(_ asked: AddItem) async throws(ServiceError) -> SigningKeyPublic? {
        let (id, access, applicationPassword) = (asked.id, asked.item.access, asked.item.applicationPassword)
        let vault = try await state.createdVault()
        switch asked.item.item {
        case .secret(let secret):
            try await vault.add(secret, as: id, access: access, applicationPassword: applicationPassword)
            return nil
        case .key:
            return try await vault.createKey(id, access: access, applicationPassword: applicationPassword)
        }
    }

    private func list(_: ListItems) async throws(ServiceError) -> [VaultItem] {
        guard let vault = try await state.existingVault() else { return [] }
        return try await vault.items(of: profile)
    }

    private func access(_ asked: ReadItemAccess) async throws(ServiceError) -> AccessControl {
        let id = asked.id
        // An item that is about to be opened needs the TPM, so its absence is the better error.
        guard let vault = try await state.vaultInChip() else { throw ServiceError(.noSuchItem, id.spoken) }
        return try await vault.access(of: id)
    }

    private func publicKey(_ asked: ReadPublicKey) async throws(ServiceError) -> SigningKeyPublic {
        try await stored(asked.id).publicKey(of: asked.id)
    }

    private func delete(_ asked: DeleteItem, _ prompter: Prompter) async throws(ServiceError) {
        let id = asked.id
        let vault = try await stored(id)
        let found = try await vault.items(of: profile).first { $0.id == id }
        guard let item = found else { throw ServiceError(.noSuchItem, id.spoken) }
        if item.needsOwnerToDelete {
            try await engine.requireOwner(
                for: .deleteItem(id.name.text),
                to: "delete the \(id.spoken)",
                asked.request,
                presenter: prompter.presenter
            )
        }
        // Only the item that was examined is deleted, not one that has replaced it in the meantime.
        try await vault.delete(id, madeAt: item.createdAt)
    }

    private func addSSHKey(_ asked: AddSSHKey) async throws(ServiceError) -> SigningKeyPublic {
        guard asked.access.asking() != .nothing, !asked.access.needsApplicationPassword else {
            throw .accessRefused(
                because: "an SSH key requires a finger or the passcode, and no application password"
            )
        }
        guard 0...SSHKeyRules.longestReuse ~= asked.reuseSeconds else {
            throw .accessRefused(because: "a touch can count for at most \(SSHKeyRules.longestReuse) seconds")
        }
        let rules = SSHKeyRules(
            allowsUnknownData: asked.allowsUnknownData,
            reuseSeconds: asked.reuseSeconds
        )
        return try await state.createdVault().createKey(asked.id, access: asked.access, rules: rules)
    }

    private func sshKeyRules(_ asked: ReadSSHKeyRules) async throws(ServiceError) -> Valued<SSHKeyRules> {
        Valued(try await stored(asked.id).rules(of: asked.id))
    }

    private func pinSSHKey(_ asked: PinSSHKey, _ prompter: Prompter) async throws(ServiceError) {
        try await engine.pin(asked, presenter: prompter.presenter)
    }

    private func signForSSH(
        _ asked: SignForSSH,
        _ prompter: Prompter
    ) async throws(ServiceError) -> Valued<Data> {
        Valued(try await engine.sign(asked, presenter: prompter.presenter))
    }

    private func stored(_ id: ItemID) async throws(ServiceError) -> Vault {
        guard let vault = try await state.existingVault() else { throw ServiceError(.noSuchItem, id.spoken) }
        return vault
    }
}

extension VaultItem {
    /// Whether the owner must consent before the item is deleted, because the item requires its owner and may still be
    /// usable.
    fileprivate var needsOwnerToDelete: Bool {
        switch standing {
        case .valid, .unknown: access.asking() != .nothing
        case .enrollmentChanged, .tampered: false
        }
    }
}

/// The passcode of a profile, in the vault of this process.
struct InProcessPasscode: Sendable {
    let engine: AuthenticationEngine
    let state: ProtectedState

    private var profile: String { engine.profile }

    func add(to table: inout HandlerTable) {
        table.on(isSet)
        table.on(askForFinger)
        table.on(set)
        table.on(change)
        table.on(itemsLostWithout)
        table.on(remove)
    }

    private func isSet(_: IsPasscodeSet) async throws(ServiceError) -> Bool {
        guard let vault = try await state.vaultInChip() else { return false }
        return try await vault.isPasscodeSet(of: profile)
    }

    private func askForFinger(_ asked: AskForFinger, _ prompter: Prompter) async throws(ServiceError) {
        // Without a session of the caller, the match is not kept, and a new one is required.
        try await engine.askForFirstPasscode(
            asked.request,
            in: asked.session ?? OwnerSession(),
            presenter: prompter.presenter
        )
    }

    private func set(_ asked: SetPasscode) async throws(ServiceError) {
        let (passcode, request) = (asked.passcode, asked.request)
        let vault = try await state.createdVault()
        guard try await !vault.isPasscodeSet(of: profile) else {
            throw ServiceError(.passcodeExists, profile)
        }
        // The vault checks again, in the transaction that sets it.
        guard try await hasFingers() else {
            try await request.allowsFirst?()
            return try await vault.setPasscode(passcode, of: profile)
        }
        let shown = await engine.proofForFirstPasscode(
            request,
            in: asked.session ?? OwnerSession(),
            vault
        )
        try await vault.setPasscode(passcode, of: profile, shown: shown)
    }

    private func hasFingers() async throws(ServiceError) -> Bool {
        do throws(ServiceError) {
            return try await engine.hasFingers()
        } catch {
            throw ServiceError(.accessDenied, "passcode of \(profile)", cause: error.message)
        }
    }

    private func change(_ asked: ChangePasscode, _ prompter: Prompter) async throws(ServiceError) {
        guard PasscodeSize.allowed.contains(asked.new.bytes.count) else {
            throw ServiceError(.passcodeWrongSize)
        }
        let vault = try await self.vault()
        let shown = try await engine.passcode(
            for: .changePasscode,
            to: "change it",
            asked.request,
            vault,
            presenter: prompter.presenter
        )
        try await vault.changePasscode(to: asked.new, shown: shown)
    }

    private func itemsLostWithout(
        _: ListItemsLostWithoutPasscode
    ) async throws(ServiceError) -> [ItemID] {
        try await vault().itemsLostWithoutPasscode(of: profile)
    }

    private func remove(
        _ asked: RemovePasscode,
        _ prompter: Prompter
    ) async throws(ServiceError) -> [ItemID] {
        let force = asked.force
        let vault = try await vault()
        // The transaction checks again.
        if !force { try await vault.refuseNeededPasscode(of: profile) }
        let shown = try await engine.passcode(
            for: .removePasscode,
            to: force ? "remove it, with all secrets and keys that only it opens" : "remove it",
            asked.request,
            vault,
            presenter: prompter.presenter
        )
        return try await vault.removePasscode(shown: shown, force: force)
    }

    private func vault() async throws(ServiceError) -> Vault {
        guard let vault = try await state.vaultInChip() else { throw ServiceError(.passcodeNotSet, profile) }
        return vault
    }
}
