// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import WhorlFingerprint
import WhorlService
import WhorlSupport

extension EvaluationSession {
    /// Returns whether the prompt asks for the passcode as well as the finger.
    func asksPasscode(_ facts: PreflightFacts) async -> Bool {
        switch request.policy {
        case .biometrics: return false
        case .deviceOwner: break
        }
        guard facts.preconditions.hasPasscode else { return false }
        return await presenter.takesPasscode
    }

    /// Refuses an evaluation that needs the passcode after the finger where no person could type it.
    ///
    /// - Throws: `notInteractive`.
    func checkThatBothCanBeAsked() async throws(ServiceError) {
        let isAsked = await presenter.isInteractive
        guard request.interactionAllowed, isAsked, await presenter.takesPasscode else {
            throw ServiceError(
                .notInteractive,
                cause: "the machine demands the passcode with each touch, and the prompt takes none"
            )
        }
    }

    /// Asks for the passcode after a finger, where the machine demands both; without it the finger counts for nothing.
    func adding(
        _ finger: Evaluation,
        _ facts: PreflightFacts,
        _ bookkeeping: EvaluationBookkeeping
    ) async throws(ServiceError) -> Evaluation {
        guard facts.preconditions.demandsPasscode else { return finger }
        _ = try await ask(.passcode, facts, bookkeeping)
        return finger.withPasscode
    }

    /// Asks for a finger and for the passcode in one prompt; the first of them that is right is the answer.
    func either(
        _ reader: any FingerprintReader,
        _ facts: PreflightFacts,
        _ bookkeeping: EvaluationBookkeeping
    ) async throws(ServiceError) -> Evaluation {
        try await ask([.finger, .passcode], facts, bookkeeping) { decision, entry in
            // The time limit applies to the prompt as a whole, so its parts have none of their own.
            let limits = Scan.Limits(
                wait: EvaluationSession.longestTimeout,
                touch: EvaluationSession.longestTimeout,
                decision: decision
            )
            do throws(ServiceError) {
                return .success(
                    try await scan(reader, bookkeeping, limits) { scan in
                        await self.outcome(of: scan, entry)
                    }
                )
            } catch {
                return .failure(error)
            }
        }
    }

    /// Asks for only the passcode, since no finger can be asked for.
    ///
    /// - Throws: `notInteractive` where no person can be asked, and the obstacle where the prompt takes no passcode.
    func answer(
        insteadOf obstacle: ServiceError,
        _ facts: PreflightFacts,
        _ bookkeeping: EvaluationBookkeeping
    ) async throws(ServiceError) -> Evaluation {
        guard request.interactionAllowed, await presenter.isInteractive else {
            throw ServiceError(
                .notInteractive,
                cause: "\(obstacle.code.rawValue): \(obstacle.message)"
            )
        }
        guard await presenter.takesPasscode else { throw obstacle }
        return try await ask(.passcode, facts, bookkeeping, obstacle)
    }

    /// Shows one prompt that asks for the passcode, and for the finger where it has a part.
    func ask(
        _ parts: Prompt.Parts,
        _ facts: PreflightFacts,
        _ bookkeeping: EvaluationBookkeeping,
        _ obstacle: ServiceError? = nil,
        finger: PasscodeRace.FingerPart? = nil
    ) async throws(ServiceError) -> Evaluation {
        let prompt = engine.texts.prompt(for: request, engine.limits, at: facts.readerInfo, parts: parts)
        let idle = IdleTimeout(timeout)
        let entry = PromptEntry(parts) { idle.restart() }
        let passcode = PasscodeLoop(
            authority: engine.passcode,
            entry: entry,
            bookkeeping: bookkeeping,
            decision: Decision(),
            domainState: facts.enrollment?.digest
        )
        let race = PasscodeRace(passcode: passcode, idle: idle, finger: finger)
        if let reason = obstacle?.worthTelling { entry.send(.fingerEnded(reason)) }
        return try await race.result(prompt, presenter).get()
    }
}

extension ServiceError {
    /// The message that says why fingers are refused; `nil` where the person knows, such as without a reader or an
    /// enrolled finger.
    fileprivate var worthTelling: String? {
        switch code {
        // That no reader is connected, or no finger enrolled, is seen.
        case .biometryLockout, .placeRests, .readerNotChosen, .biometryOptedOut: message
        case .biometryNotAvailable, .readerInUse: nil
        default: isDistrust || category == .readerUnavailable ? message : nil
        }
    }
}
