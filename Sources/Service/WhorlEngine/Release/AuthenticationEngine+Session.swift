// SPDX-License-Identifier: Apache-2.0

import StateStore
import WhorlEnrollment
import WhorlFingerprint
package import WhorlService
package import WhorlVault

/// Evaluations whose proof is kept for later requests of the same caller.
extension AuthenticationEngine {
    /// Evaluates a request, and adds what was shown to the request's session.
    ///
    /// - Parameters:
    ///   - request: The request for the evaluation.
    ///   - keeper: The authority that compares a passcode and keeps its proof; `nil` where the vault does not compare
    ///     it.
    ///   - presenter: Shows the prompt.
    /// - Returns: How the owner was recognised.
    /// - Throws: as ``evaluate(_:presenter:)``.
    func evaluate(
        _ request: EvaluationRequest,
        keeper: ProofKeeper?,
        _ presenter: any PromptPresenter
    ) async throws(AuthenticationError) -> Evaluation {
        let visit = request.session?.visit()
        let engine = keeper.map { with($0) } ?? self
        let evaluation = try await EvaluationSession(
            engine: engine,
            request: request,
            presenter: presenter
        ).run()
        if let visit {
            let shown = shown(by: evaluation, keeper)
            request.session?.add(since: visit) { shown.adding(to: $0) }
        }
        return evaluation
    }

    /// Returns what an evaluation has shown: only the method that ended it counts, and only a touch that was made for
    /// it.
    private func shown(by evaluation: Evaluation, _ keeper: ProofKeeper?) -> ShownProofs {
        var shown = ShownProofs(profile: profile)
        switch evaluation.method {
        case .biometry:
            shown.print = evaluation.isReused ? nil : evaluation.print
            shown.strength = evaluation.strength
        case .passcode: shown.passcode = keeper?.proof
        }
        return shown
    }

    /// Returns the proof of the method that ended an evaluation, for the release that asked for it.
    ///
    /// Only that method counts: a passcode that came second proves nothing here.
    func proof(of evaluation: Evaluation, _ keeper: ProofKeeper?) -> OwnerProof? {
        switch evaluation.method {
        case .biometry: .matchedFinger(of: profile)
        case .passcode: keeper?.proof
        }
    }

    /// Returns the proof of what was shown in a session and still counts; the chip is not asked.
    ///
    /// If it cannot be looked up, it counts as not shown; asking the owner then reports the cause. A touch that was weaker
    /// than one of the demanded strengths counts as not shown either.
    package func known(
        in session: OwnerSession?,
        _ vault: Vault,
        demanding strengths: [TouchStrength]
    ) async -> OwnerProof {
        var proof = OwnerProof.nothing(of: profile)
        guard let shown = session?.content(as: ShownProofs.self), shown.profile == profile else {
            return proof
        }
        if let print = shown.print, strengths.allSatisfy(shown.strength.meets), await isEnrolled(print) {
            proof = proof.and(.matchedFinger(of: profile)) ?? proof
        }
        if let passcode = shown.passcode, (try? await vault.isCurrent(passcode)) == true {
            proof = proof.and(passcode) ?? proof
        }
        return proof
    }

    private func isEnrolled(_ print: PrintID) async -> Bool {
        (try? await state.existingStore()?.isEnrolled(print, of: profile)) == true
    }
}

/// The proofs that one profile's owner has shown in a session.
struct ShownProofs: Sendable {
    let profile: String
    /// The print that matched a touch; a match from the reuse window does not count.
    var print: PrintID?
    /// The strength of that touch.
    var strength = TouchStrength.any
    /// The proof of the passcode, as the chip takes it.
    var passcode: OwnerProof?

    /// Returns these proofs and, where they hold none of a kind, the ones before; proofs of another profile are
    /// dropped.
    func adding(to before: ShownProofs?) -> ShownProofs {
        guard let before, before.profile == profile else { return self }
        // The latest proof is the most likely one to count still.
        return ShownProofs(
            profile: profile,
            print: print ?? before.print,
            strength: print == nil ? before.strength : strength,
            passcode: passcode ?? before.passcode
        )
    }
}
