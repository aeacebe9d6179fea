// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlEngine
import WhorlService
import WhorlVault

/// The named items of a profile, in the vault of this process.
struct InProcessItems: NamedItemService {
    let engine: AuthenticationEngine
    let state: ProtectedState

    private var profile: String { engine.profile }

    func prepare() async throws(ServiceError) { _ = try await state.createdVault() }

    func add(
        _ item: NewItem,
        as id: ItemID,
        access: AccessControl,
        applicationPassword: SecretBox?
    ) async throws(ServiceError) -> SigningKeyPublic? {
        let vault = try await state.createdVault()
        switch item {
        case .secret(let secret):
            try await vault.add(secret, as: id, access: access, applicationPassword: applicationPassword)
            return nil
        case .key:
            return try await vault.createKey(id, access: access, applicationPassword: applicationPassword)
        }
    }

    func items() async throws(ServiceError) -> [VaultItem] {
        guard let vault = try await state.existingVault() else { return [] }
        return try await vault.items(of: profile)
    }

    func access(of id: ItemID) async throws(ServiceError) -> AccessControl {
        // An item that is about to be opened needs the chip: its absence is the better error.
        guard let vault = try await state.vaultInChip() else { throw ServiceError(.noSuchItem, id.spoken) }
        return try await vault.access(of: id)
    }

    func publicKey(of id: ItemID) async throws(ServiceError) -> SigningKeyPublic {
        try await stored(id).publicKey(of: id)
    }

    func delete(
        _ id: ItemID,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) {
        let vault = try await stored(id)
        let found = try await vault.items(of: profile).first { $0.id == id }
        guard let item = found else { throw ServiceError(.noSuchItem, id.spoken) }
        if item.needsOwnerToDelete {
            try await engine.requireOwner(
                for: .deleteItem(id.name.text),
                to: "delete the \(id.spoken)",
                request,
                presenter: presenter
            )
        }
        // Only the item that was looked at is deleted, not one that replaced it since.
        try await vault.delete(id, madeAt: item.createdAt)
    }

    private func stored(_ id: ItemID) async throws(ServiceError) -> Vault {
        guard let vault = try await state.existingVault() else { throw ServiceError(.noSuchItem, id.spoken) }
        return vault
    }
}

extension VaultItem {
    /// Whether the owner has to agree before the item is deleted: it requires its owner, and may still open.
    fileprivate var needsOwnerToDelete: Bool {
        switch standing {
        case .valid, .unknown: access.asking() != .nothing
        case .enrollmentChanged, .tampered: false
        }
    }
}

/// The passcode of a profile, in the vault of this process.
struct InProcessPasscode: PasscodeService {
    let engine: AuthenticationEngine
    let state: ProtectedState

    private var profile: String { engine.profile }

    func isSet() async throws(ServiceError) -> Bool {
        guard let vault = try await state.vaultInChip() else { return false }
        return try await vault.isPasscodeSet(of: profile)
    }

    func askForFinger(
        _ request: ConsentRequest,
        in session: OwnerSession,
        presenter: any PromptPresenter
    ) async throws(ServiceError) {
        try await engine.askForFirstPasscode(request, in: session, presenter: presenter)
    }

    func set(
        _ passcode: SecretBox,
        _ request: ConsentRequest,
        shown session: OwnerSession
    ) async throws(ServiceError) {
        let vault = try await state.createdVault()
        guard try await !vault.isPasscodeSet(of: profile) else {
            throw ServiceError(.passcodeExists, profile)
        }
        // The vault looks again, in the transaction that sets it.
        guard try await hasFingers() else {
            try await request.allowsFirst?()
            return try await vault.setPasscode(passcode, of: profile)
        }
        let shown = await engine.proofForFirstPasscode(request, in: session, vault)
        try await vault.setPasscode(passcode, of: profile, shown: shown)
    }

    private func hasFingers() async throws(ServiceError) -> Bool {
        do throws(ServiceError) {
            return try await engine.hasFingers()
        } catch {
            throw ServiceError(.accessDenied, "passcode of \(profile)", cause: error.message)
        }
    }

    func change(
        to new: SecretBox,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) {
        guard PasscodeSize.allowed.contains(new.bytes.count) else { throw ServiceError(.passcodeWrongSize) }
        let vault = try await self.vault()
        let shown = try await engine.passcode(
            for: .changePasscode,
            to: "change it",
            request,
            vault,
            presenter: presenter
        )
        try await vault.changePasscode(to: new, shown: shown)
    }

    func itemsLostWithout() async throws(ServiceError) -> [ItemID] {
        try await vault().itemsLostWithoutPasscode(of: profile)
    }

    func remove(
        force: Bool,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> [ItemID] {
        let vault = try await vault()
        // The transaction looks again.
        if !force { try await vault.refuseNeededPasscode(of: profile) }
        let shown = try await engine.passcode(
            for: .removePasscode,
            to: force ? "remove it, with all secrets and keys that only it opens" : "remove it",
            request,
            vault,
            presenter: presenter
        )
        return try await vault.removePasscode(shown: shown, force: force)
    }

    private func vault() async throws(ServiceError) -> Vault {
        guard let vault = try await state.vaultInChip() else { throw ServiceError(.passcodeNotSet, profile) }
        return vault
    }
}

/// The keyring of a profile, in the vault of this process.
struct InProcessKeyring: KeyringService, LoginKeyring {
    let engine: AuthenticationEngine
    let state: ProtectedState

    private var profile: String { engine.profile }

    func status() async throws(ServiceError) -> KeyringStatus {
        guard let row = try await row() else { return .off }
        return switch try await standing(of: row) {
        case .valid?, .unknown?: .ready
        case .enrollmentChanged?: .enrollmentChanged
        case nil, .some: .waiting
        }
    }

    func turnOn(_ request: ConsentRequest, presenter: any PromptPresenter) async throws(ServiceError) {
        let vault = try await state.createdVault()
        if try await vault.loginPassword(of: profile) != nil { return }
        var asked = EvaluationRequest(
            policy: .biometrics,
            purpose: .keyring,
            reason: "have your login password handed over after a touch at the login",
            application: request.application,
            timeout: request.timeout
        )
        asked.asker = request.asker
        asked.fingerObstacle = request.fingerObstacle
        asked.obstacle = request.obstacle
        let evaluation = try await engine.evaluate(asked, presenter: presenter)
        guard evaluation.method == .biometry, !evaluation.isReused else {
            throw ServiceError(.authenticationFailed)
        }
        try await vault.addLoginPassword(of: profile)
    }

    func turnOff(_ request: ConsentRequest, presenter: any PromptPresenter) async throws(ServiceError) {
        guard try await row() != nil else { return }
        try await engine.requireOwner(
            for: .keyringOff,
            to: "turn the keyring off",
            request,
            presenter: presenter
        )
        try await state.existingVault()?.deleteLoginPassword(of: profile)
    }

    func keep(_ password: SecretBox, changedOn day: Int?) async throws(ServiceError) -> Bool {
        guard let row = try await row(), let vault = try await state.vaultInChip() else { return false }
        // A person who can log in can type it again: a password that still opens is not sealed at each login.
        if row.changedOn == day, try await standing(of: row) == .valid { return false }
        let item = try await engine.seal(password, access: .biometryCurrentSet, applicationPassword: nil)
        try await vault.setLoginPassword(item, changedOn: day, of: profile)
        return true
    }

    func release(after login: EvaluationRequest, changedOn day: Int?) async throws(ServiceError) -> SecretBox?
    {
        guard let row = try await row(), let item = row.item, let vault = try await state.vaultInChip() else {
            return nil
        }
        guard row.changedOn == day else {
            try await forget()
            return nil
        }
        let password = try await vault.secret(
            in: item,
            shown: await engine.known(for: login, vault, demanding: [engine.strength])
        )
        try await engine.logRelease(of: "login password", for: login, isShownBefore: true)
        return password
    }

    func forget() async throws(ServiceError) {
        try await state.existingVault()?.setLoginPassword(nil, changedOn: nil, of: profile)
    }

    private func row() async throws(ServiceError) -> LoginPassword? {
        try await state.existingVault()?.loginPassword(of: profile)
    }

    private func standing(of row: LoginPassword) async throws(ServiceError) -> VaultItem.Standing? {
        guard let item = row.item else { return nil }
        return try await engine.standing(of: [item]).first
    }
}
