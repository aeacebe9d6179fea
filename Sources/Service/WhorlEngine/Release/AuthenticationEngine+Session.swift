// SPDX-License-Identifier: Apache-2.0

import WhorlStateStore
import WhorlEnrollment
import WhorlFingerprint
package import WhorlService
package import WhorlVault

/// The evaluations whose proofs are stored for later requests from the same caller.
extension AuthenticationEngine {
    /// Evaluates a request, and adds the proof to the request's session.
    ///
    /// - Parameters:
    ///   - request: The request for the evaluation.
    ///   - keeper: The authority that compares a passcode and stores its proof; `nil` if the vault does not compare it.
    ///   - presenter: Shows the prompt.
    /// - Returns: The evaluation, which says how the owner was recognized.
    /// - Throws: The errors of ``evaluate(_:presenter:)``.
    func evaluate(
        _ request: EvaluationRequest,
        keeper: ProofKeeper?,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) -> Evaluation {
        var request = request
        request.stay = await stay(of: request)
        // A purpose that is limited to one request keeps nothing, whatever session the caller passes.
        let session = request.leavesProof ? request.session : nil
        let visit = session?.visit()
        let engine = keeper.map { with($0) } ?? self
        let evaluation = try await EvaluationSession(
            engine: engine,
            request: request,
            presenter: presenter
        ).evaluate()
        if let visit {
            let shown = shown(by: evaluation, for: request, keeper)
            session?.add(since: visit) { shown.adding(to: $0) }
        }
        return evaluation
    }

    /// Returns the proofs that an evaluation provides.
    ///
    /// Only the method that ended it counts, and only a touch that was made for it.
    private func shown(
        by evaluation: Evaluation,
        for request: EvaluationRequest,
        _ keeper: ProofKeeper?
    ) -> SessionProofs {
        var touch: SessionProofs.Touch?
        var passcode: OwnerProof?
        switch evaluation.method {
        case .biometry:
            if let print = evaluation.print, !evaluation.isReused {
                touch = SessionProofs.Touch(print: print, strength: evaluation.strength)
            }
        case .passcode: passcode = keeper?.proof
        }
        return SessionProofs(
            scope(of: request),
            touch: touch,
            passcode: passcode,
            burst: request.burst,
            at: time.now()
        )
    }

    private func scope(of request: EvaluationRequest) -> SessionProofs.Scope {
        SessionProofs.Scope(
            profile: profile,
            application: request.application,
            purpose: request.purpose,
            stay: request.stay
        )
    }

    /// Returns the proof for the method that ended an evaluation, for use by the release that requested it.
    ///
    /// Only that method counts; a passcode that was entered second does not prove anything.
    func proof(of evaluation: Evaluation, _ keeper: ProofKeeper?) -> OwnerProof? {
        switch evaluation.method {
        case .biometry: .matchedFinger(of: profile)
        case .passcode: keeper?.proof
        }
    }

    /// Returns the proof from a request's session that is still valid for the request, and counts the use.
    ///
    /// A proof is valid only for the same owner, program, purpose and stay, within the purpose's limits, and until the
    /// machine goes to sleep. It must also be possible to provide it now from the same place. The TPM is not used. If
    /// the proof cannot be looked up, it is not valid; prompting the owner then reports the cause. A touch that is
    /// weaker than a required strength is not valid either.
    package func known(
        for request: EvaluationRequest,
        _ vault: Vault,
        demanding strengths: [TouchStrength]
    ) async -> OwnerProof {
        var (proof, request) = (OwnerProof.nothing(of: profile), request)
        request.stay = await stay(of: request)
        guard request.obstacle == nil, let shown = take(for: request) else { return proof }
        // If fingers are not allowed now, an earlier touch does not count either.
        if request.fingerObstacle == nil, let touch = shown.touch, strengths.allSatisfy(touch.strength.meets),
            await isEnrolled(touch.print)
        {
            proof = proof.and(.matchedFinger(of: profile)) ?? proof
        }
        if let passcode = shown.passcode, (try? await vault.isCurrent(passcode)) == true {
            proof = proof.and(passcode) ?? proof
        }
        return proof
    }

    /// Logs a release of something that requires its owner.
    ///
    /// If the release cannot be logged, it must not take place.
    ///
    /// - Parameters:
    ///   - subject: The name of the released item.
    ///   - request: The request for which the item is released.
    ///   - isShownBefore: Whether a prompt was not needed because an earlier proof was valid.
    /// - Throws: A storage error.
    package func logRelease(
        of subject: String,
        for request: EvaluationRequest,
        isShownBefore: Bool
    ) async throws(ServiceError) {
        let entry = entry(
            .release,
            isShownBefore ? "releasedAgain" : "released",
            for: request.application.rawValue,
            detail: "\(subject): \(request.reason)",
            asker: request.asker
        )
        try await state.existing()?.write(.relaxed) { try AuditLog.append(entry, in: $0) }
    }

    private func take(for request: EvaluationRequest) -> SessionProofs? {
        let (scope, now) = (scope(of: request), time.now())
        return request.session?.update(as: SessionProofs.self) { content -> SessionProofs? in
            guard content?.scope == scope else { return nil }
            if content?.use(at: now, limits) != true { content = nil }
            return content
        }
    }

    private func isEnrolled(_ print: PrintID) async -> Bool {
        (try? await state.existingStore()?.isEnrolled(print, of: profile)) == true
    }
}
