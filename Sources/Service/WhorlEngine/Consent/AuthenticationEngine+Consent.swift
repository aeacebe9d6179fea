// SPDX-License-Identifier: Apache-2.0

import WhorlStateStore
package import WhorlEnrollment
import WhorlFingerprint
package import WhorlService
package import WhorlVault

extension AuthenticationEngine {
    /// Asks the owner to consent to a change of the enrolled fingers.
    ///
    /// This is an evaluation like any other: each touch is charged before its scan, only the passcode is accepted after
    /// a lockout, and the reason is logged. No earlier match replaces a touch. If the fingers cannot be trusted, only
    /// the passcode counts.
    ///
    /// - Parameters:
    ///   - change: The change that the owner is asked to agree to.
    ///   - request: The way in which the owner is asked.
    ///   - presenter: Shows the prompt.
    /// - Returns: The consent to this change, bound to the fingers as they were before the owner was asked. `nil` if no
    ///   consent is needed: when enrolling the first finger without a passcode, giving up all fingers that cannot be
    ///   trusted without a passcode, removing all fingers if none are enrolled, or accepting fingers that are in order.
    /// - Throws: The errors of ``evaluate(_:presenter:)``; `enrollmentTampered` and `enrollmentRolledBack` for a change
    ///   that requires trusted fingers; `passcodeNotSet` for accepting without a passcode.
    @concurrent
    package func consent(
        to change: OwnerConsent.Change,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> OwnerConsent? {
        // If nothing was ever stored, there are no fingers and no passcode.
        guard let status = try await enrollmentStatus() else {
            try await request.allowsFirst?()
            return nil
        }
        if let fault = status.fault, change.needsSoundFingers { throw fault }
        if change.isEmpty(in: status) { return nil }
        let evaluation: EvaluationRequest
        switch status.need {
        case .nothing:
            guard change != .accept else { throw .nothingVouchesForOwner }
            try await request.allowsFirst?()
            return nil
        case .passcode:
            evaluation = self.evaluation(.changeFingers, to: change.spoken, request, status, ways: .passcode)
        case .fingerOrPasscode:
            let ways = await ways(status, request)
            evaluation = self.evaluation(.changeFingers, to: change.spoken, request, status, ways: ways)
        }
        let owner: Evaluation
        do {
            owner = try await evaluate(evaluation, presenter: presenter)
        } catch {
            throw error.code == .biometryDisconnected ? .ownersReaderAway(error) : error
        }
        // Neither can happen: a request without a reuse window uses no earlier match, and a request for only the
        // passcode does not prompt for a finger.
        guard !owner.isReused, status.need != .passcode || owner.method == .passcode else {
            throw ServiceError(.authenticationFailed, cause: "not shown for this change")
        }
        return OwnerConsent(to: change, in: status, by: owner.method == .biometry ? .finger : .passcode)
    }

    /// Asks the owner to agree to an operation that needs no proof in the TPM, such as deleting an item.
    ///
    /// If no trusted finger is enrolled and no passcode is set, the owner cannot be recognized. Then only the system's
    /// rules are consulted, if the request names them.
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the touch, which leaves no proof.
    ///   - text: The purpose as the end of a sentence.
    ///   - request: The way in which the owner is asked.
    ///   - presenter: Shows the prompt.
    /// - Throws: The errors of ``consent(to:_:presenter:)``.
    @concurrent
    package func requireOwner(
        for purpose: TouchPurpose,
        to text: String,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) {
        guard let status = try await enrollmentStatus() else {
            try await request.allowsFirst?()
            return
        }
        let parts: Prompt.Parts
        switch status.need {
        case .nothing:
            try await request.allowsFirst?()
            return
        case .passcode: parts = .passcode
        case .fingerOrPasscode: parts = await ways(status, request)
        }
        let asked = evaluation(purpose, to: text, request, status, ways: parts)
        let owner = try await evaluate(asked, presenter: presenter)
        // Neither can happen: the request uses no earlier match, and one for only the passcode does not prompt for a
        // finger.
        guard !owner.isReused, status.need != .passcode || owner.method == .passcode else {
            throw ServiceError(.authenticationFailed, cause: "not shown for this")
        }
    }

    /// Prompts for the passcode that changing the TPM's objects requires.
    ///
    /// - Parameters:
    ///   - purpose: The purpose, which leaves no proof.
    ///   - text: The change as the end of a sentence.
    ///   - request: The way in which the owner is asked.
    ///   - vault: The vault that compares the passcode.
    ///   - presenter: Shows the prompt.
    /// - Returns: The proof of the passcode.
    /// - Throws: The errors of ``evaluate(_:presenter:)``; `passcodeNotSet`; a storage error.
    @concurrent
    package func passcode(
        for purpose: TouchPurpose,
        to text: String,
        _ request: ConsentRequest,
        _ vault: Vault,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> OwnerProof {
        var asked = EvaluationRequest(
            policy: .deviceOwner,
            purpose: purpose,
            reason: "type the passcode to \(text)",
            application: request.application,
            timeout: request.timeout
        )
        asked.takesPasscodeAlone = true
        asked.asker = request.asker
        asked.obstacle = request.obstacle
        let keeper = ProofKeeper(VaultPasscode(of: profile, in: ExistingVault(vault)))
        let evaluation = try await evaluate(asked, keeper: keeper, presenter)
        guard evaluation.method == .passcode, let proof = keeper.proof else {
            throw ServiceError(.accessDenied, profile, cause: "no passcode was shown")
        }
        return proof
    }

    /// Prompts for an enrolled finger, if any, before a first passcode is set.
    ///
    /// - Parameters:
    ///   - request: The way in which the owner is asked.
    ///   - session: The session that keeps the match.
    ///   - presenter: Shows the prompt.
    /// - Throws: The errors of ``consent(to:_:presenter:)``.
    @concurrent
    package func askForFirstPasscode(
        _ request: ConsentRequest,
        in session: OwnerSession,
        presenter: any PromptPresenter
    ) async throws(ServiceError) {
        guard let status = try await enrollmentStatus(), status.hasFingers else { return }
        var evaluation = forFirstPasscode(request, in: session)
        evaluation.waived = TouchStrength(hasTwoFingers: !status.hasTwoFingersOnAReader, hasPasscode: true)
        _ = try await evaluate(evaluation, presenter: presenter)
    }

    /// Takes the match that ``askForFirstPasscode(_:in:presenter:)`` kept in a session; it counts once.
    ///
    /// - Parameters:
    ///   - request: The requesting program and its place, the same as when it prompted for the finger.
    ///   - session: The session that keeps the match.
    ///   - vault: The vault whose passcode is to be set.
    /// - Returns: The proof; it proves nothing if there was no such match, or it has expired.
    package func proofForFirstPasscode(
        _ request: ConsentRequest,
        in session: OwnerSession,
        _ vault: Vault
    ) async -> OwnerProof {
        // A touch before the first passcode cannot have been combined with a passcode.
        await known(for: forFirstPasscode(request, in: session), vault, demanding: [])
    }

    private func forFirstPasscode(_ request: ConsentRequest, in session: OwnerSession) -> EvaluationRequest {
        var evaluation = EvaluationRequest(
            policy: .biometrics,
            purpose: .setPasscode,
            reason: "touch an enrolled finger to set a passcode",
            application: request.application,
            fallbackTitle: "",
            timeout: request.timeout
        )
        evaluation.session = session
        evaluation.origin = request.origin
        return evaluation
    }

    /// Returns whether a finger is enrolled, for any reader.
    package func hasFingers() async throws(ServiceError) -> Bool {
        try await enrollmentStatus()?.hasFingers ?? false
    }

    func enrollmentStatus() async throws(ServiceError) -> EnrollmentStatus? {
        try await state.existingStore()?.status(of: profile)
    }

    /// Returns the ways in which the owner can consent now.
    ///
    /// Without a passcode, a finger is always included, so that its obstacle is reported.
    private func ways(_ status: EnrollmentStatus, _ request: ConsentRequest) async -> Prompt.Parts {
        guard !request.passcodeAlone else { return .passcode }
        guard status.isPasscodeSet else { return .finger }
        guard request.fingerObstacle == nil else { return .passcode }
        let canTouch = await preflight(.biometrics, for: request.application).canEvaluate
        return canTouch ? [.finger, .passcode] : .passcode
    }

    private func evaluation(
        _ purpose: TouchPurpose,
        to text: String,
        _ request: ConsentRequest,
        _ status: EnrollmentStatus,
        ways: Prompt.Parts
    ) -> EvaluationRequest {
        var evaluation = EvaluationRequest(
            policy: ways.contains(.passcode) ? .deviceOwner : .biometrics,
            purpose: purpose,
            reason: "\(ways.instruction) to \(text)",
            application: request.application,
            // Without a passcode, the prompt has no fallback.
            fallbackTitle: ways.contains(.passcode) ? nil : "",
            timeout: request.timeout
        )
        // If only a lockout rules out fingers, this stays `false`, so that the prompt mentions the lockout.
        evaluation.takesPasscodeAlone = request.passcodeAlone || status.need == .passcode
        // Otherwise a machine that requires two fingers would never let the second one be enrolled.
        evaluation.waived.hasTwoFingers = !status.hasTwoFingersOnAReader
        evaluation.origin = request.origin
        return evaluation
    }
}

extension EnrollmentStatus {
    /// Whether two different fingers are enrolled for the same reader.
    fileprivate var hasTwoFingersOnAReader: Bool {
        Dictionary(grouping: fingers, by: \.reader).values.contains { Set($0.map(\.finger)).count > 1 }
    }
}

extension OwnerConsent.Change {
    /// Whether the change is refused if the fingers cannot be trusted.
    fileprivate var needsSoundFingers: Bool {
        switch self {
        case .add, .remove(.print), .remove(.finger): true
        case .remove(.all), .accept: false
        }
    }

    /// Returns whether the change has no effect.
    fileprivate func isEmpty(in status: EnrollmentStatus) -> Bool {
        switch self {
        case .add, .remove(.print), .remove(.finger): false
        case .remove(.all): status.fault == nil && !status.hasFingers
        case .accept: status.fault == nil
        }
    }

    /// The change as the end of a sentence, for prompts and the log.
    var spoken: String {
        switch self {
        case .add(let finger): "enroll the \(finger.spokenName)"
        case .remove(.print): "remove a finger"
        case .remove(.finger(let finger, on: _)): "remove the \(finger.spokenName)"
        case .remove(.all): "remove all fingers"
        case .accept: "accept the changed fingers"
        }
    }
}

extension Prompt.Parts {
    /// The instruction to the user, as the beginning of a sentence.
    fileprivate var instruction: String {
        switch self {
        case [.finger, .passcode]: "touch an enrolled finger, or type the passcode,"
        case .finger: "touch an enrolled finger"
        default: "type the passcode"
        }
    }
}

extension ServiceError {
    /// Returns the error for fingers that are enrolled only for another reader, on which alone the owner can consent.
    fileprivate static func ownersReaderAway(_ error: ServiceError) -> ServiceError {
        ServiceError(
            error.code,
            recovery:
                "Connect that reader and set a passcode with it (`whorl passcode set`), which then works "
                + "with every reader.",
            cause: error.cause
        )
    }

    fileprivate static let nothingVouchesForOwner = ServiceError(
        .passcodeNotSet,
        message: "The fingers are not trusted and no passcode is set, so you cannot authenticate.",
        recovery: "Remove them with `whorl remove --all`, then enroll again. Secrets and keys are kept."
    )
}

extension AuthenticationEngine {
    /// Accepts a decision of the system's rules as the owner's consent to a change of the enrolled fingers.
    ///
    /// It is for programs that cannot prompt the owner, such as those that use fprintd's interface. If the fingers
    /// cannot be trusted, no system rule replaces the passcode. The change is logged.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - application: The requesting program, for the log.
    ///   - isAllowed: Returns whether the rules allow the change; its argument is whether the owner cannot be
    ///     recognized yet. It is called once.
    /// - Returns: The consent to this change, bound to the fingers as they were before the rules were consulted; `nil`
    ///   if the change needs no consent.
    /// - Throws: `authenticationFailed` if the rules do not allow it; `enrollmentTampered`, `enrollmentRolledBack`,
    ///   `storeFailed`.
    @concurrent
    package func consentOfAccount(
        to change: OwnerConsent.Change,
        for application: ApplicationID,
        _ isAllowed: @Sendable (_ isFirst: Bool) async -> Bool
    ) async throws(ServiceError) -> OwnerConsent? {
        let status = try await enrollmentStatus()
        if let fault = status?.fault { throw fault }
        let isFirst = status.map { $0.need == .nothing } ?? true
        guard await isAllowed(isFirst) else {
            throw ServiceError(.notPermitted, cause: "the system's rules do not allow it")
        }
        guard let status, !isFirst else { return nil }
        let detail = "the system's rules allowed to \(change.spoken)"
        let entry = entry(.evaluation, "account", for: application.rawValue, detail: detail)
        try await changeExisting { try AuditLog.append(entry, in: $0) }
        return OwnerConsent(to: change, in: status, by: .account)
    }
}
