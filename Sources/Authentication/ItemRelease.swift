// SPDX-License-Identifier: Apache-2.0

import Vault

/// One release: what the person shows is turned into a proof, and the proof goes to the vault and nowhere else.
struct ItemRelease: Sendable {
    let engine: AuthenticationEngine
    let request: ReleaseRequest
    let presenter: any PromptPresenter

    /// What is opened: an item of the vault's table, or one that lies with a keeper.
    struct Target: Sendable {
        /// What is told where it is not one of this profile.
        let missing: VaultError
        let profile: String
        let access: @Sendable (Vault) async throws(VaultError) -> AccessControl
        /// The item, where it lies with a keeper.
        var sealed: SealedItem?
    }

    /// What was shown so far.
    private struct Shown: Sendable {
        var proof: OwnerProof
        var evaluations: [Evaluation] = []
    }

    /// Asks for what was not shown to the request's session before, then has `use` take the product out of the vault.
    ///
    /// Where the chip does not take the passcode that the session remembers, it asks for all of it.
    func run<Product: Sendable>(
        _ target: Target,
        _ use: (Vault, OwnerProof) async throws(VaultError) -> Product
    ) async throws(ReleaseError) -> Released<Product> {
        let found = try await inVault { () async throws(VaultError) in try await engine.vault.inChip() }
        guard let vault = found else { throw .vault(target.missing) }
        let access = try await inVault { () async throws(VaultError) in try await target.access(vault) }
        guard target.profile == engine.profile else { throw .vault(target.missing) }
        guard !access.needsApplicationPassword || request.applicationPassword != nil else {
            throw .vault(VaultError(.applicationPasswordNeeded, target.missing.subject))
        }
        // Nobody is asked for what never opens again, as far as that is known without the chip.
        if let item = target.sealed, access.isBoundToCurrentSet {
            let standing = try await inVault { () async throws(VaultError) in
                try await engine.standing(of: [item])
            }
            guard standing != [.enrollmentChanged] else {
                throw .vault(VaultError(.enrollmentChanged, target.missing.subject))
            }
        }
        let known = await engine.known(in: request.evaluation.session, vault)
        do throws(ReleaseError) {
            return try await attempt(access, vault, after: known, use)
        } catch {
            guard known.showsPasscode, case .vault(let refusal) = error, refusal.code == .passcodeWrong else {
                throw error
            }
        }
        request.evaluation.session?.forget()
        return try await attempt(access, vault, after: .nothing(of: engine.profile), use)
    }

    /// Asks for what is missing, and takes the product.
    ///
    /// Where what was shown is not enough any more, since the machine started in another way or the set of fingers is
    /// another one, the passcode is asked for besides if the access control takes it.
    private func attempt<Product: Sendable>(
        _ access: AccessControl,
        _ vault: Vault,
        after known: OwnerProof,
        _ use: (Vault, OwnerProof) async throws(VaultError) -> Product
    ) async throws(ReleaseError) -> Released<Product> {
        var shown = Shown(proof: known)
        try await ask(access, vault, &shown)
        do throws(VaultError) {
            return Released(try await use(vault, shown.proof), after: shown.evaluations)
        } catch {
            guard error.mayNeedPasscode, access.canTakePasscodeBesides, !shown.proof.showsPasscode else {
                throw .vault(error)
            }
            guard try await isPasscodeSet(vault) else { throw .vault(error) }
        }
        try await ask(.passcode, access, vault, &shown)
        return Released(
            try await inVault { () async throws(VaultError) in
                try await use(vault, shown.proof)
            },
            after: shown.evaluations
        )
    }

    private func ask(
        _ access: AccessControl,
        _ vault: Vault,
        _ shown: inout Shown
    ) async throws(ReleaseError) {
        switch access.asking(after: shown.proof) {
        case .nothing: return
        case .finger: try await ask(.finger, access, vault, &shown)
        case .passcode: try await ask(.passcode, access, vault, &shown)
        case .either: try await ask([.finger, .passcode], access, vault, &shown)
        case .both:
            try await ask(.finger, access, vault, &shown)
            try await ask(.passcode, access, vault, &shown)
        }
    }

    /// One prompt, and the proof of what it was answered with.
    private func ask(
        _ parts: Prompt.Parts,
        _ access: AccessControl,
        _ vault: Vault,
        _ shown: inout Shown
    ) async throws(ReleaseError) {
        var asked = request.evaluation
        asked.policy = parts.contains(.passcode) ? .deviceOwner : .biometrics
        asked.takesPasscodeAlone = parts == .passcode
        if !access.allowsReuse { asked.reuse = .zero }
        let keeper = ProofKeeper(VaultPasscode(of: engine.profile, in: .of(vault)))
        let evaluation: Evaluation
        do throws(AuthenticationError) {
            evaluation = try await engine.evaluate(asked, keeper: keeper, presenter)
        } catch {
            throw .evaluation(error)
        }
        guard let proof = engine.proof(of: evaluation, keeper), let whole = shown.proof.and(proof) else {
            throw .vault(VaultError(.accessDenied, engine.profile, cause: "no proof"))
        }
        shown.proof = whole
        shown.evaluations.append(evaluation)
    }

    private func isPasscodeSet(_ vault: Vault) async throws(ReleaseError) -> Bool {
        try await inVault { () async throws(VaultError) in
            try await vault.isPasscodeSet(of: engine.profile)
        }
    }

    private func inVault<Value>(
        _ body: () async throws(VaultError) -> Value
    ) async throws(ReleaseError) -> Value {
        do { return try await body() } catch { throw .vault(error) }
    }
}

extension VaultError {
    /// Whether the passcode besides may be what is missing.
    fileprivate var mayNeedPasscode: Bool {
        switch code {
        case .enrollmentChanged, .measuredBootChanged: true
        default: false
        }
    }
}

extension ItemRelease.Target {
    /// An item of the vault's table.
    static func stored(_ id: ItemID) -> ItemRelease.Target {
        ItemRelease.Target(missing: VaultError(.noSuchItem, id.spoken), profile: id.profile) {
            vault async throws(VaultError) in
            try await vault.access(of: id)
        }
    }

    /// An item that lies with its keeper; the vault says what opens it, and not the item.
    static func sealed(_ item: SealedItem) -> ItemRelease.Target {
        let missing = VaultError(
            .itemTampered,
            "sealed \(item.kind.rawValue)",
            cause: "it is of another vault or profile"
        )
        var target = ItemRelease.Target(missing: missing, profile: item.profile) {
            vault async throws(VaultError) in
            try vault.access(of: item)
        }
        target.sealed = item
        return target
    }
}
