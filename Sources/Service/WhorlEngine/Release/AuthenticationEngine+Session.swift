// SPDX-License-Identifier: Apache-2.0

import WhorlStateStore
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
    /// - Returns: How the owner was recognized.
    /// - Throws: as ``evaluate(_:presenter:)``.
    func evaluate(
        _ request: EvaluationRequest,
        keeper: ProofKeeper?,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) -> Evaluation {
        var request = request
        request.stay = await stay(of: request)
        // A purpose for one request alone keeps nothing, whatever session the caller brings.
        let session = request.purpose.proof == .none ? nil : request.session
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

    /// Returns what an evaluation has shown: only the method that ended it counts, and only a touch that was made for
    /// it.
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
        return SessionProofs(scope(of: request), touch: touch, passcode: passcode, at: time.now())
    }

    private func scope(of request: EvaluationRequest) -> SessionProofs.Scope {
        SessionProofs.Scope(
            profile: profile,
            application: request.application,
            purpose: request.purpose,
            stay: request.stay
        )
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

    /// Returns the proof of what was shown in a request's session and still counts for it, and counts the use.
    ///
    /// It counts for the owner, program and purpose that it was shown for, within the purpose's limits, awake, in the same
    /// stay, and in a place from which it could be shown now. The chip is not asked. If it cannot be looked up, it counts as not shown; asking
    /// the owner then reports the cause. A touch that was weaker than one of the demanded strengths counts as not shown
    /// either.
    package func known(
        for request: EvaluationRequest,
        _ vault: Vault,
        demanding strengths: [TouchStrength]
    ) async -> OwnerProof {
        var (proof, request) = (OwnerProof.nothing(of: profile), request)
        request.stay = await stay(of: request)
        guard request.obstacle == nil, let shown = take(for: request) else { return proof }
        // Where no finger may be asked for now, an earlier one does not count either.
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

    /// Writes the line of the log for a release of something that requires its owner; without the line, nothing is released.
    ///
    /// - Parameters:
    ///   - subject: The name of what is released.
    ///   - request: The request that it is released for.
    ///   - isShownBefore: Whether nothing was asked for, since what was shown earlier counted.
    /// - Throws: a storage error.
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
