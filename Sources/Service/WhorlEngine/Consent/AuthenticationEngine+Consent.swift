// SPDX-License-Identifier: Apache-2.0

import WhorlStateStore
package import WhorlEnrollment
package import WhorlFingerprint
package import WhorlService
package import WhorlVault

extension AuthenticationEngine {
    /// Prompts the owner to consent to a change of the enrolled fingers.
    ///
    /// This is an evaluation like any other: each touch is reserved as an attempt before its scan, only the passcode is
    /// accepted after a lockout, and the reason is logged. An earlier match cannot replace a touch. If the fingers
    /// cannot be trusted, only the passcode is accepted.
    ///
    /// - Parameters:
    ///   - change: The change that requires consent.
    ///   - request: The request that specifies how to prompt the owner.
    ///   - presenter: Shows the prompt.
    /// - Returns: The consent to this change, which is bound to the set of fingers before the owner was prompted. It is
    ///   `nil` if consent is not needed: to enroll the first finger or to remove all untrusted fingers while no
    ///   passcode is set, to remove all fingers if none are enrolled, or to accept fingers that are intact.
    /// - Throws: The errors of ``evaluate(_:presenter:)``; `enrollmentTampered` or `enrollmentRolledBack` if the change
    ///   requires trusted fingers; `passcodeNotSet` if fingers are to be accepted but no passcode is set.
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

    /// Prompts the owner to consent to an operation that does not need a proof in the TPM, such as deleting an item.
    ///
    /// If no trusted finger is enrolled and no passcode is set, the owner cannot be recognized. In this case, only the
    /// system's rules are checked if the request specifies them.
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the touch, for which no proof is stored.
    ///   - text: The purpose, as the end of a sentence.
    ///   - request: The request that specifies how to prompt the owner.
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
    ///   - purpose: The purpose, for which no proof is stored.
    ///   - text: The change, as the end of a sentence.
    ///   - request: The request that specifies how to prompt the owner.
    ///   - vault: The vault that compares the passcode.
    ///   - presenter: Shows the prompt.
    /// - Returns: The proof of the passcode.
    /// - Throws: The errors of ``evaluate(_:presenter:)``, `passcodeNotSet` or a storage error.
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

    /// Prompts for an enrolled finger, if there is one, before the first passcode is set.
    ///
    /// - Parameters:
    ///   - request: The request that specifies how to prompt the owner.
    ///   - session: The session that stores the match.
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

    /// Takes the match that ``askForFirstPasscode(_:in:presenter:)`` stored in a session; it can be used only once.
    ///
    /// - Parameters:
    ///   - request: The requesting program and its place, which must be the same as when the finger was prompted for.
    ///   - session: The session that stores the match.
    ///   - vault: The vault in which the passcode will be set.
    /// - Returns: The proof, which is empty if there is no such match or it has expired.
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

    /// Returns whether a finger is enrolled for any reader.
    package func hasFingers() async throws(ServiceError) -> Bool {
        try await enrollmentStatus()?.hasFingers ?? false
    }

    func enrollmentStatus() async throws(ServiceError) -> EnrollmentStatus? {
        try await state.existingStore()?.status(of: profile)
    }

    /// Returns the methods by which the owner can consent now.
    ///
    /// If no passcode is set, a finger is always included, so that the reason why it cannot be used is reported.
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

    /// The change, as the end of a sentence for prompts and the log.
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
    /// The instruction for the user, as the beginning of a sentence.
    fileprivate var instruction: String {
        switch self {
        case [.finger, .passcode]: "touch an enrolled finger, or type the passcode,"
        case .finger: "touch an enrolled finger"
        default: "type the passcode"
        }
    }
}

extension ServiceError {
    /// Returns the error for fingers that are enrolled only for another reader, which the owner must use to consent.
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
    /// Accepts a decision by the system's rules as the owner's consent to a change of the enrolled fingers.
    ///
    /// This is for programs that cannot prompt the owner, such as those that use fprintd's interface. If the fingers
    /// cannot be trusted, the system's rules cannot replace the passcode. The change is logged.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - application: The requesting program, for the log.
    ///   - isAllowed: Returns whether the rules allow the change; the argument says whether the owner cannot be
    ///     recognized yet. The function is called once.
    /// - Returns: The consent to this change, which is bound to the set of fingers before the rules were checked; `nil`
    ///   if the change does not need consent.
    /// - Throws: `authenticationFailed` if the rules do not allow the change; `enrollmentTampered`,
    ///   `enrollmentRolledBack` or `storeFailed`.
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

    /// Returns an administrator's consent to the first finger of a user who has stored nothing.
    ///
    /// The system's rules must have allowed the administrator to enroll others.
    ///
    /// - Parameter finger: The finger.
    /// - Returns: The consent, which the transaction that stores the finger checks again.
    /// - Throws: `ownerNeeded` if a finger, a passcode or an item exists; `enrollmentTampered`, `enrollmentRolledBack`, or a
    ///   storage error.
    @concurrent
    package func consentOfAdministrator(
        toFirst finger: Finger
    ) async throws(ServiceError) -> OwnerConsent {
        let store = try await state.createdStore()
        let status = try await store.status(of: profile)
        if let fault = status.fault { throw fault }
        let consent = OwnerConsent(to: .add(finger), in: status, by: .administrator)
        try await store.requireConsent(to: .add(finger), by: consent, of: profile)
        return consent
    }
}
