// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SecretMemory
public import Vault

extension AuthenticationEngine {
    /// Asks the person for what a secret's access control wants, and gives the secret that the chip releases for it.
    @concurrent
    public func secret(
        _ id: ItemID,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<SecretBox> {
        try await ItemRelease(engine: self, request: request, presenter: presenter).run(id) {
            vault,
            proof throws(VaultError) in
            try await vault.secret(id, shown: proof, applicationPassword: request.applicationPassword)
        }
    }

    /// Asks the person for what a key's access control wants, and has the chip sign with it.
    @concurrent
    public func signature(
        over digest: Data,
        with id: ItemID,
        _ request: ReleaseRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Released<Signature> {
        try await ItemRelease(engine: self, request: request, presenter: presenter).run(id) {
            vault,
            proof throws(VaultError) in
            try await vault.sign(
                digest: digest,
                with: id,
                shown: proof,
                applicationPassword: request.applicationPassword
            )
        }
    }
}

/// One release: what the person shows is turned into a proof, and the proof goes to the vault and nowhere else.
struct ItemRelease: Sendable {
    let engine: AuthenticationEngine
    let request: ReleaseRequest
    let presenter: any PromptPresenter

    /// What was shown so far.
    private struct Shown: Sendable {
        var proof: OwnerProof
        var evaluations: [Evaluation] = []
        var hasPasscode = false
    }

    /// Asks, then has `use` take the product out of the vault.
    ///
    /// Where what was shown is not enough any more, since the machine started in another way or the set of fingers is
    /// another one, the passcode is asked for besides if the access control takes it.
    func run<Product: Sendable>(
        _ id: ItemID,
        _ use: (Vault, OwnerProof) async throws(VaultError) -> Product
    ) async throws(ReleaseError) -> Released<Product> {
        let found = try await inVault { () async throws(VaultError) in try await engine.vault.inChip() }
        guard let vault = found else { throw .vault(VaultError(.noSuchItem, id.spoken)) }
        let access = try await inVault { () async throws(VaultError) in try await vault.access(of: id) }
        guard id.profile == engine.profile else { throw .vault(VaultError(.noSuchItem, id.spoken)) }
        guard !access.needsApplicationPassword || request.applicationPassword != nil else {
            throw .vault(VaultError(.applicationPasswordNeeded, id.spoken))
        }
        var shown = Shown(proof: .nothing(of: engine.profile))
        try await ask(access, vault, &shown)
        do throws(VaultError) {
            return Released(try await use(vault, shown.proof), after: shown.evaluations)
        } catch {
            guard error.mayNeedPasscode, access.canTakePasscodeBesides, !shown.hasPasscode else {
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
        switch access.asking {
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
        let keeper = ProofKeeper(engine.profile, vault)
        let evaluation: Evaluation
        do throws(AuthenticationError) {
            evaluation = try await engine.with(keeper).evaluate(asked, presenter: presenter)
        } catch {
            throw .evaluation(error)
        }
        // Only what ended the evaluation counts: a passcode that came second proves nothing here.
        let proof: OwnerProof? =
            switch evaluation.method {
            case .biometry: .matchedFinger(of: engine.profile)
            case .passcode: keeper.proof
            }
        guard let proof, let whole = shown.proof.and(proof) else {
            throw .vault(VaultError(.accessDenied, engine.profile, cause: "no proof"))
        }
        shown.proof = whole
        shown.evaluations.append(evaluation)
        shown.hasPasscode = shown.hasPasscode || evaluation.method == .passcode
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
