// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import SecretMemory
import WhorlVault
import WhorlService

/// The passcode of a profile, in the vault of this process.
struct InProcessPasscode: PasscodeService {
    let engine: AuthenticationEngine
    let state: ProtectedState

    private var profile: String { engine.profile }

    func isSet() async throws(VaultError) -> Bool {
        guard let vault = try await state.vaultInChip() else { return false }
        return try await vault.isPasscodeSet(of: profile)
    }

    func askForFinger(
        _ request: ConsentRequest,
        in session: OwnerSession,
        presenter: any PromptPresenter
    ) async throws(AuthenticationError) {
        try await engine.askForFirstPasscode(request, in: session, presenter: presenter)
    }

    func set(_ passcode: SecretBox, shown session: OwnerSession) async throws(VaultError) {
        let vault = try await state.createdVault()
        // The touch before a first passcode cannot have come with one.
        let shown = await engine.known(in: session, vault, demanding: [])
        try await vault.setPasscode(passcode, of: profile, shown: shown)
    }

    func change(_ old: SecretBox, to new: SecretBox) async throws(VaultError) {
        try await vault().changePasscode(old, to: new, of: profile)
    }

    func verify(_ passcode: SecretBox) async throws(AuthenticationError) -> PasscodeVerdict {
        try await engine.unlock(with: passcode.bytes)
    }

    func itemsLostWithout() async throws(VaultError) -> [ItemID] {
        try await vault().itemsLostWithoutPasscode(of: profile)
    }

    func remove(_ passcode: SecretBox, force: Bool) async throws(VaultError) -> [ItemID] {
        try await vault().removePasscode(passcode, of: profile, force: force)
    }

    private func vault() async throws(VaultError) -> Vault {
        guard let vault = try await state.vaultInChip() else { throw VaultError(.passcodeNotSet, profile) }
        return vault
    }
}
