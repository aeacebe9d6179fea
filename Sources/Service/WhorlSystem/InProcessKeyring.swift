// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import WhorlEngine
import WhorlService
import WhorlVault

/// The keyring of a profile, in the vault of this process.
struct InProcessKeyring: KeyringService, LoginKeyring {
    let engine: AuthenticationEngine
    let state: ProtectedState

    private var profile: String { engine.profile }

    func status() async throws(VaultError) -> KeyringStatus {
        guard let row = try await row() else { return .off }
        return switch try await standing(of: row) {
        case .valid?, .unknown?: .ready
        case .enrollmentChanged?: .enrollmentChanged
        case nil, .some: .waiting
        }
    }

    func turnOn(_ request: ConsentRequest, presenter: any PromptPresenter) async throws(ReleaseError) {
        let vault = try await inVault { () async throws(VaultError) in try await state.createdVault() }
        let isOn = try await inVault { () async throws(VaultError) in
            try await vault.loginPassword(of: profile) != nil
        }
        if isOn { return }
        var asked = EvaluationRequest(
            policy: .biometrics,
            reason: "have your login password handed over after a touch at the login",
            application: request.application,
            timeout: request.timeout
        )
        asked.asker = request.asker
        asked.fingerObstacle = request.fingerObstacle
        let evaluation: Evaluation
        do throws(AuthenticationError) {
            evaluation = try await engine.evaluate(asked, presenter: presenter)
        } catch {
            throw .evaluation(error)
        }
        guard evaluation.method == .biometry, !evaluation.isReused else {
            throw .evaluation(AuthenticationError(.authenticationFailed))
        }
        try await inVault { () async throws(VaultError) in try await vault.addLoginPassword(of: profile) }
    }

    func turnOff() async throws(VaultError) {
        try await state.existingVault()?.deleteLoginPassword(of: profile)
    }

    func keep(_ password: SecretBox, changedOn day: Int?) async throws(VaultError) -> Bool {
        guard let row = try await row(), let vault = try await state.vaultInChip() else { return false }
        // Whoever can log in can type it again: a password that still opens is not sealed at each login.
        if row.changedOn == day, try await standing(of: row) == .valid { return false }
        let item = try await engine.seal(password, access: .biometryCurrentSet, applicationPassword: nil)
        try await vault.setLoginPassword(item, changedOn: day, of: profile)
        return true
    }

    func release(after session: OwnerSession, changedOn day: Int?) async throws(VaultError) -> SecretBox? {
        guard let row = try await row(), let item = row.item, let vault = try await state.vaultInChip() else {
            return nil
        }
        guard row.changedOn == day else {
            try await forget()
            return nil
        }
        return try await vault.secret(
            in: item,
            shown: await engine.known(in: session, vault, demanding: [engine.strength])
        )
    }

    func forget() async throws(VaultError) {
        try await state.existingVault()?.setLoginPassword(nil, changedOn: nil, of: profile)
    }

    private func row() async throws(VaultError) -> LoginPassword? {
        try await state.existingVault()?.loginPassword(of: profile)
    }

    private func standing(of row: LoginPassword) async throws(VaultError) -> VaultItem.Standing? {
        guard let item = row.item else { return nil }
        return try await engine.standing(of: [item]).first
    }

    private func inVault<Value>(
        _ body: () async throws(VaultError) -> Value
    ) async throws(ReleaseError) -> Value {
        do { return try await body() } catch { throw .vault(error) }
    }
}
