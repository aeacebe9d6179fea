// SPDX-License-Identifier: Apache-2.0

import WhorlStateStore
package import WhorlEnrollment
import WhorlFingerprint
package import WhorlService
package import WhorlVault

extension AuthenticationEngine {
    /// Asks the owner to agree to a change of the enrolled fingers.
    ///
    /// It is an evaluation like any other: each touch is charged before its scan, after a lockout only the passcode is
    /// taken, and the log has a line with the reason. No earlier match stands in for a touch. Where the fingers cannot
    /// be trusted, only the passcode counts.
    ///
    /// - Parameters:
    ///   - change: The change that the owner is asked to agree to.
    ///   - request: The way in which the owner is asked.
    ///   - presenter: Shows the prompt.
    /// - Returns: The consent, for this change of the fingers as they were before the owner was asked. `nil` where no
    ///   consent is needed: enrolling the first finger without a passcode, giving up all fingers that cannot be trusted
    ///   without a passcode, removing all where none is enrolled, or accepting fingers that are in order.
    /// - Throws: the errors of ``evaluate(_:presenter:)``; `enrollmentTampered` and `enrollmentRolledBack` for a change
    ///   that needs sound fingers; `passcodeNotSet` for accepting without a passcode.
    @concurrent
    package func consent(
        to change: OwnerConsent.Change,
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> OwnerConsent? {
        // If nothing was ever stored, neither a finger nor a passcode is set.
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
        // Neither can happen: a request without a reuse window takes no earlier match, and a request for the passcode
        // alone asks for no finger.
        guard !owner.isReused, status.need != .passcode || owner.method == .passcode else {
            throw ServiceError(.authenticationFailed, cause: "not shown for this change")
        }
        return OwnerConsent(to: change, in: status, by: owner.method == .biometry ? .finger : .passcode)
    }

    /// Asks the owner to agree to what needs no proof in the chip, such as deleting an item.
    ///
    /// Where no finger is enrolled that can be trusted, and no passcode is set, nothing tells who the owner is: only
    /// the system's rules are asked, if the request names them.
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the touch, which leaves no proof.
    ///   - text: The same as the end of a sentence.
    ///   - request: The way in which the owner is asked.
    ///   - presenter: Shows the prompt.
    /// - Throws: as ``consent(to:_:presenter:)``.
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
        // Neither can happen: the request takes no earlier match, and one for the passcode alone asks for no finger.
        guard !owner.isReused, status.need != .passcode || owner.method == .passcode else {
            throw ServiceError(.authenticationFailed, cause: "not shown for this")
        }
    }

    /// Asks the owner for the passcode, which a change of the chip's objects needs itself.
    ///
    /// - Parameters:
    ///   - purpose: The purpose, which leaves no proof.
    ///   - text: The change as the end of a sentence.
    ///   - request: The way in which the owner is asked.
    ///   - vault: The vault that compares the passcode.
    ///   - presenter: Shows the prompt.
    /// - Returns: The passcode's proof.
    /// - Throws: the errors of ``evaluate(_:presenter:)``; `passcodeNotSet`, a storage error.
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

    /// Asks for an enrolled finger, if there is one, before a first passcode is set.
    ///
    /// - Parameters:
    ///   - request: The way in which the owner is asked.
    ///   - session: The session that keeps the match.
    ///   - presenter: Shows the prompt.
    /// - Throws: as ``consent(to:_:presenter:)``.
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

    /// Takes the match that ``askForFirstPasscode(_:in:presenter:)`` has kept in a session, which counts once.
    ///
    /// - Parameters:
    ///   - request: The program that asks, and its place, as when it asked for the finger.
    ///   - session: The session that keeps the match.
    ///   - vault: The vault whose passcode is to be set.
    /// - Returns: The proof; of nothing without such a match, or after its time.
    package func proofForFirstPasscode(
        _ request: ConsentRequest,
        in session: OwnerSession,
        _ vault: Vault
    ) async -> OwnerProof {
        // The touch before a first passcode cannot have come with one.
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

    /// Returns whether a finger is enrolled, on whatever reader.
    package func hasFingers() async throws(ServiceError) -> Bool {
        try await enrollmentStatus()?.hasFingers ?? false
    }

    func enrollmentStatus() async throws(ServiceError) -> EnrollmentStatus? {
        try await state.existingStore()?.status(of: profile)
    }

    /// Returns the ways in which the owner can consent now; without a passcode always a finger, so that its obstacle is
    /// reported.
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
        // If only a lock keeps fingers away, this stays `false`, so that the prompt mentions the lock.
        evaluation.takesPasscodeAlone = request.passcodeAlone || status.need == .passcode
        // Otherwise a machine that demands two fingers would never let the second one be enrolled.
        evaluation.waived.hasTwoFingers = !status.hasTwoFingersOnAReader
        evaluation.origin = request.origin
        return evaluation
    }
}

extension EnrollmentStatus {
    /// Whether two different fingers are enrolled for one reader.
    fileprivate var hasTwoFingersOnAReader: Bool {
        Dictionary(grouping: fingers, by: \.reader).values.contains { Set($0.map(\.finger)).count > 1 }
    }
}

extension OwnerConsent.Change {
    /// Whether the change is refused where the fingers cannot be trusted.
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
    /// The instruction for the person, as the beginning of a sentence.
    fileprivate var instruction: String {
        switch self {
        case [.finger, .passcode]: "touch an enrolled finger, or type the passcode,"
        case .finger: "touch an enrolled finger"
        default: "type the passcode"
        }
    }
}

extension ServiceError {
    /// Returns the error for fingers that are enrolled only on another reader, where alone they can agree.
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
    /// Takes the word of the system's rules for the owner's, about a change of the enrolled fingers.
    ///
    /// It is for programs that can show no prompt for the owner's own proof, as those of fprintd's interface. Where the
    /// fingers cannot be trusted, no rule of the system stands in for the passcode. The log has a line with the change.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - application: The program that asks, for the log.
    ///   - isAllowed: Returns whether the rules allow the change; its argument tells whether nothing says yet who the
    ///     owner is. It is asked once.
    /// - Returns: The consent, for this change of the fingers as they were before the rules were asked; `nil` where
    ///   the change needs none.
    /// - Throws: `authenticationFailed` where the rules do not allow it; `enrollmentTampered`, `enrollmentRolledBack`,
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
