// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlEngine
import WhorlService
import WhorlVault

/// The keyring of a profile, in the vault of this process.
struct InProcessKeyring: Sendable {
    let engine: AuthenticationEngine
    let state: ProtectedState

    private var profile: String { engine.profile }

    func add(to table: inout HandlerTable) {
        table.on(status)
        table.on(turnOn)
        table.on(turnOff)
        table.on(makePassword)
        table.on(open)
        table.on(forgetPassword)
    }

    private func status(_: ReadKeyringStatus) async throws(ServiceError) -> KeyringStatus {
        if let own = try await ownPassword() {
            guard own.item != nil else { return .ownPasswordLost }
            return own.forLogins == nil ? .ownPasswordWithoutLogin : .ownPassword
        }
        guard let row = try await loginPassword() else { return .off }
        return switch try await standing(of: row) {
        case .valid?, .unknown?: .ready
        case .enrollmentChanged?: .enrollmentChanged
        case nil, .some: .waiting
        }
    }

    private func turnOn(_ asking: TurnKeyringOn, _ prompter: Prompter) async throws(ServiceError) {
        let vault = try await state.createdVault()
        // A keyring with its own password is unlocked by a login as well.
        if try await ownPassword() != nil { return }
        if try await vault.loginPassword(of: profile) != nil { return }
        var asked = request(
            .keyring,
            "have your login password handed over after a touch at the login",
            asking.request
        )
        asked.policy = .biometrics
        let evaluation = try await engine.evaluate(asked, presenter: prompter.presenter)
        guard evaluation.method == .biometry, !evaluation.isReused else {
            throw ServiceError(.authenticationFailed)
        }
        try await vault.addLoginPassword(of: profile)
    }

    private func turnOff(_ asked: TurnKeyringOff, _ prompter: Prompter) async throws(ServiceError) {
        guard try await loginPassword() != nil else { return }
        try await engine.requireOwner(
            for: .keyringOff,
            to: "turn the keyring off",
            asked.request,
            presenter: prompter.presenter
        )
        try await state.existingVault()?.deleteLoginPassword(of: profile)
    }

    private func makePassword(
        _ asked: MakeKeyringPassword,
        _ prompter: Prompter
    ) async throws(ServiceError) -> KeyringPassword {
        let vault = try await state.createdVault()
        let reason = "let a touch unlock your keyring at any time"
        guard let own = try await ownPassword(), let item = own.item else {
            let access = try await access(vault, hasSheet: asked.hasSheet)
            try await engine.requireOwner(
                for: .keyringPassword,
                to: reason,
                asked.request,
                presenter: prompter.presenter
            )
            let password = OwnKeyringPassword.random()
            let new = try await sealed(password, access, asked.loginPassword, else: nil)
            try await vault.addOwnPassword(new, of: profile)
            return KeyringPassword(password)
        }
        let password = try await released(item, request(.keyringPassword, reason, asked.request), prompter)
        // A passcode that was set since then opens it as well.
        let access = try await access(vault, hasSheet: true)
        let new = try await sealed(password, access, asked.loginPassword, else: own.forLogins)
        try await vault.replaceOwnPassword(new, of: profile)
        return KeyringPassword(password)
    }

    /// Returns a row for the password, with a copy for logins with the login password; without it, with the other copy.
    private func sealed(
        _ password: SecretBox,
        _ access: AccessControl,
        _ loginPassword: SecretBox?,
        else known: SealedItem?
    ) async throws(ServiceError) -> OwnKeyringPassword {
        let item = try await engine.make(.secret(password), access: access, applicationPassword: nil)
        var forLogins = known
        if let loginPassword { forLogins = try await copy(password, loginPassword) }
        return OwnKeyringPassword(item, forLogins: forLogins, of: password)
    }

    /// Returns the access control for the keyring's own password.
    private func access(_ vault: Vault, hasSheet: Bool) async throws(ServiceError) -> AccessControl {
        if try await vault.isPasscodeSet(of: profile) { return .userPresence }
        guard hasSheet else { throw ServiceError(.passcodeNotSet, profile) }
        guard try await engine.hasFingers() else { throw ServiceError(.biometryNotEnrolled, profile) }
        return .biometryAny
    }

    private func open(_ asked: OpenKeyring, _ prompter: Prompter) async throws(ServiceError)
        -> KeyringPassword
    {
        guard let own = try await ownPassword() else {
            throw ServiceError(
                .noSuchItem,
                message: "The keyring does not have its own password.",
                recovery: "Set one: `whorl keyring on --on-demand`."
            )
        }
        guard let item = own.item else {
            throw ServiceError(
                .noSuchItem,
                message: "The keyring's own password was lost when the vault was reset.",
                recovery: "With its recovery sheet: `whorl keyring off --from-sheet`."
            )
        }
        let request = request(.openKeyring, "unlock the keyring", asked.request)
        return KeyringPassword(try await released(item, request, prompter))
    }

    private func forgetPassword(_ asked: ForgetKeyringPassword) async throws(ServiceError) {
        guard let own = try await ownPassword() else { return }
        guard own.is(asked.password) else {
            throw ServiceError(.accessDenied, "keyring password", cause: "this is another password")
        }
        try await state.existingVault()?.deleteOwnPassword(own, of: profile)
    }

    private func released(
        _ item: SealedItem,
        _ request: EvaluationRequest,
        _ prompter: Prompter
    ) async throws(ServiceError) -> SecretBox {
        try await engine.unseal(item, request, presenter: prompter.presenter)
    }

    private func request(
        _ purpose: TouchPurpose,
        _ reason: String,
        _ consent: ConsentRequest
    ) -> EvaluationRequest {
        var request = EvaluationRequest(
            policy: .deviceOwner,
            purpose: purpose,
            reason: reason,
            application: consent.application,
            timeout: consent.timeout
        )
        request.origin = consent.origin
        return request
    }

    /// Returns a copy of the keyring's password that only the login password releases.
    private func copy(_ password: SecretBox, _ loginPassword: SecretBox) async throws(ServiceError)
        -> SealedItem
    {
        try await engine.make(
            .secret(password),
            access: .none.withApplicationPassword,
            applicationPassword: loginPassword
        )
    }

    private func loginPassword() async throws(ServiceError) -> LoginPassword? {
        try await state.existingVault()?.loginPassword(of: profile)
    }

    private func ownPassword() async throws(ServiceError) -> OwnKeyringPassword? {
        try await state.existingVault()?.ownPassword(of: profile)
    }

    private func standing(of row: LoginPassword) async throws(ServiceError) -> VaultItem.Standing? {
        guard let item = row.item else { return nil }
        return try await engine.standing(of: [item]).first
    }
}

extension InProcessKeyring: LoginKeyring {
    func typed(
        _ password: SecretBox,
        changedOn day: Int?,
        isLogin: @Sendable () async -> Bool
    ) async throws(ServiceError) -> TypedPassword {
        guard let vault = try await state.vaultInChip() else { return .ignored }
        if let own = try await ownPassword() {
            guard await isLogin() else { return .ignored }
            return try await opened(own, with: password, vault).map { .released($0) } ?? .ignored
        }
        guard let row = try await loginPassword() else { return .ignored }
        // A user who can log in can type it again, so a password that can still be opened is not sealed at each login.
        if row.changedOn == day, try await standing(of: row) == .valid { return .ignored }
        let item = try await engine.make(
            .secret(password),
            access: .biometryCurrentSet,
            applicationPassword: nil
        )
        try await vault.setLoginPassword(item, changedOn: day, of: profile)
        return .sealed
    }

    func release(
        after login: EvaluationRequest,
        changedOn day: Int?
    ) async throws(ServiceError) -> KeyringKey? {
        guard let vault = try await state.vaultInChip() else { return nil }
        if let own = try await ownPassword() {
            guard let item = own.item else { return nil }
            return .ownPassword(try await shown(item, at: login, vault, "keyring password"))
        }
        guard let row = try await loginPassword(), let item = row.item else { return nil }
        guard row.changedOn == day else {
            try await vault.setLoginPassword(nil, changedOn: nil, of: profile)
            return nil
        }
        return .loginPassword(try await shown(item, at: login, vault, "login password"))
    }

    func changed(from old: SecretBox?, to new: SecretBox?) async throws(ServiceError) {
        guard let vault = try await state.existingVault() else { return }
        try await vault.setLoginPassword(nil, changedOn: nil, of: profile)
        guard let own = try await ownPassword(), own.forLogins != nil else { return }
        guard let old, let new, let password = try await opened(own, with: old, vault) else {
            return try await vault.setOwnPasswordForLogins(nil, of: profile)
        }
        try await vault.setOwnPasswordForLogins(try await copy(password, new), of: profile)
    }

    private func shown(
        _ item: SealedItem,
        at login: EvaluationRequest,
        _ vault: Vault,
        _ name: String
    ) async throws(ServiceError) -> SecretBox {
        let password = try await vault.secret(
            in: item,
            shown: await engine.known(for: login, vault, demanding: [engine.strength])
        )
        try await engine.logRelease(of: name, for: login, isShownBefore: true)
        return password
    }

    /// Returns the keyring's own password after a login with the password; deletes the copy for logins if it is for
    /// another password.
    private func opened(
        _ own: OwnKeyringPassword,
        with password: SecretBox,
        _ vault: Vault
    ) async throws(ServiceError) -> SecretBox? {
        guard let item = own.forLogins else { return nil }
        do throws(ServiceError) {
            return try await vault.secret(
                in: item,
                shown: .nothing(of: profile),
                applicationPassword: password
            )
        } catch {
            guard error.code == .applicationPasswordWrong else { throw error }
            try await vault.setOwnPasswordForLogins(nil, of: profile)
            return nil
        }
    }
}
