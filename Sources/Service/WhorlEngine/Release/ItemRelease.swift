// SPDX-License-Identifier: Apache-2.0

import WhorlVault
import WhorlService

/// One release, which turns the user's touch or passcode into a proof and passes the proof only to the vault.
struct ItemRelease: Sendable {
    let engine: AuthenticationEngine
    /// The request, with the item's purpose.
    let request: ReleaseRequest
    let presenter: any PromptPresenter

    /// The proof collected so far, with the evaluations that it is based on.
    private struct Shown: Sendable {
        var proof: OwnerProof
        var evaluations: [Evaluation] = []
    }

    /// Prompts for any proof that the request's session does not contain yet, and then calls `use` to get the product
    /// from the vault.
    ///
    /// If the TPM does not accept the session's passcode, the release prompts for everything again.
    func release<Product: Sendable>(
        _ item: ProtectedItem,
        _ use: (Vault, OwnerProof) async throws(ServiceError) -> Product
    ) async throws(ServiceError) -> Released<Product> {
        let found = try await engine.vault.vaultInChip()
        guard let vault = found else { throw item.missing }
        let access = try await item.access(vault)
        guard item.profile == engine.profile else { throw item.missing }
        guard !access.needsApplicationPassword || request.applicationPassword != nil else {
            throw ServiceError(.applicationPasswordNeeded, item.missing.subject)
        }
        // Do not prompt for an item that can never be opened again, as far as this is known without the TPM.
        if case .sealed(let sealed) = item, access.isBoundToCurrentSet {
            let standing = try await engine.standing(of: [sealed])
            guard standing != [.enrollmentChanged] else {
                throw ServiceError(.enrollmentChanged, item.missing.subject)
            }
        }
        let known = await engine.known(
            for: request.evaluation,
            vault,
            demanding: [engine.strength, access.strength]
        )
        let released: Released<Product>
        do throws(ServiceError) {
            released = try await attempt(access, vault, after: known, use)
        } catch {
            guard known.showsPasscode, error.code == .passcodeWrong else {
                throw error
            }
            request.evaluation.session?.forget()
            released = try await attempt(access, vault, after: .nothing(of: engine.profile), use)
        }
        if access.asking() != .nothing {
            try await engine.logRelease(
                of: item.missing.subject,
                for: request.evaluation,
                isShownBefore: released.evaluations.isEmpty
            )
        }
        return released
    }

    /// Prompts for the missing proofs, and returns the product.
    ///
    /// The TPM may not accept the proof. If another one may help, it prompts for that as well.
    private func attempt<Product: Sendable>(
        _ access: AccessControl,
        _ vault: Vault,
        after known: OwnerProof,
        _ use: (Vault, OwnerProof) async throws(ServiceError) -> Product
    ) async throws(ServiceError) -> Released<Product> {
        var shown = Shown(proof: known)
        try await ask(access, vault, &shown)
        let rest: Prompt.Parts
        do throws(ServiceError) {
            return Released(try await use(vault, shown.proof), after: shown.evaluations)
        } catch {
            rest = try await self.rest(after: error, access, vault, shown.proof)
        }
        try await ask(rest, access, vault, &shown)
        return Released(
            try await use(vault, shown.proof),
            after: shown.evaluations
        )
    }

    /// Returns the proof that may help after an error; throws the error if none does.
    ///
    /// The passcode may, if the machine started differently or the set of fingers has changed. A finger may, if the item
    /// was made with an earlier passcode, since removed.
    private func rest(
        after error: ServiceError,
        _ access: AccessControl,
        _ vault: Vault,
        _ proof: OwnerProof
    ) async throws(ServiceError) -> Prompt.Parts {
        if error.mayNeedPasscode, access.canTakePasscodeBesides, !proof.showsPasscode,
            try await isPasscodeSet(vault)
        {
            return .passcode
        }
        guard error.code == .accessDenied, access.asking() == .either, proof.showsPasscode, !proof.showsFinger
        else { throw error }
        return .finger
    }

    private func ask(
        _ access: AccessControl,
        _ vault: Vault,
        _ shown: inout Shown
    ) async throws(ServiceError) {
        switch access.asking(after: shown.proof.shown) {
        case .nothing: return
        case .finger: try await ask(.finger, access, vault, &shown)
        case .passcode: try await ask(.passcode, access, vault, &shown)
        case .either: try await ask([.finger, .passcode], access, vault, &shown)
        case .both:
            try await ask(.finger, access, vault, &shown)
            try await ask(.passcode, access, vault, &shown)
        }
    }

    /// Shows one prompt, and adds the proof that its answer provides.
    private func ask(
        _ parts: Prompt.Parts,
        _ access: AccessControl,
        _ vault: Vault,
        _ shown: inout Shown
    ) async throws(ServiceError) {
        var asked = request.evaluation
        asked.policy = parts.contains(.passcode) ? .deviceOwner : .biometrics
        asked.takesPasscodeAlone = parts == .passcode
        asked.strength = access.strength
        // If the item requires both, the passcode is prompted for next.
        asked.waived.hasPasscode = access.asking(after: shown.proof.shown) == .both
        // An earlier touch was for the program that requested it at that time. In a program's own process, that can
        // only be this program; in the system service, it may be any program of the user.
        if !access.allowsReuse || asked.asker != nil { asked.reuse = .zero }
        let keeper = ProofKeeper(VaultPasscode(of: engine.profile, in: ExistingVault(vault)))
        let evaluation = try await engine.evaluate(asked, keeper: keeper, presenter)
        guard evaluation.method == .passcode || evaluation.strength.meets(access.strength) else {
            throw ServiceError(.accessDenied, engine.profile, cause: "the touch was too weak")
        }
        guard let proof = engine.proof(of: evaluation, keeper), let whole = shown.proof.and(proof) else {
            throw ServiceError(.accessDenied, engine.profile, cause: "no proof")
        }
        shown.proof = whole
        shown.evaluations.append(evaluation)
    }

    private func isPasscodeSet(_ vault: Vault) async throws(ServiceError) -> Bool {
        try await vault.isPasscodeSet(of: engine.profile)
    }
}

extension ServiceError {
    /// Whether the passcode may be missing as well.
    fileprivate var mayNeedPasscode: Bool {
        switch code {
        case .enrollmentChanged, .measuredBootChanged, .counterLost: true
        default: false
        }
    }
}

extension ProtectedItem {
    /// The profile to which the item belongs.
    fileprivate var profile: String {
        switch self {
        case .named(let id): id.profile
        case .sealed(let item): item.profile
        }
    }

    /// The error for an item that does not belong to the profile.
    fileprivate var missing: ServiceError {
        switch self {
        case .named(let id): ServiceError(.noSuchItem, id.spoken)
        case .sealed(let item):
            ServiceError(
                .itemTampered,
                "sealed \(item.kind.rawValue)",
                cause: "it belongs to another vault or profile"
            )
        }
    }

    /// Returns the access control that the vault has recorded for the item, as opposed to the one in the item itself.
    fileprivate func access(_ vault: Vault) async throws(ServiceError) -> AccessControl {
        switch self {
        case .named(let id): try await vault.access(of: id)
        case .sealed(let item): try vault.access(of: item)
        }
    }
}
