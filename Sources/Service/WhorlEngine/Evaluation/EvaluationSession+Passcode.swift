// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import WhorlFingerprint
import WhorlService
import WhorlSupport

extension EvaluationSession {
    /// Returns whether the prompt also accepts the passcode.
    func asksPasscode(_ facts: PreflightFacts) async -> Bool {
        switch request.policy {
        case .biometrics: return false
        case .deviceOwner: break
        }
        guard facts.preconditions.hasPasscode else { return false }
        return await presenter.takesPasscode
    }

    /// Refuses an evaluation that requires the passcode after the finger if the user cannot enter it.
    ///
    /// - Throws: `notInteractive` if the prompt does not accept the passcode.
    func checkThatBothCanBeAsked() async throws(ServiceError) {
        let isAsked = await presenter.isInteractive
        guard request.interactionAllowed, isAsked, await presenter.takesPasscode else {
            throw ServiceError(
                .notInteractive,
                cause: "the machine requires the passcode with each touch, and the prompt accepts none"
            )
        }
    }

    /// Prompts for the passcode after a finger, because the machine requires both.
    ///
    /// Without the passcode, the finger does not count.
    func adding(
        _ finger: Evaluation,
        _ facts: PreflightFacts,
        _ bookkeeping: EvaluationBookkeeping
    ) async throws(ServiceError) -> Evaluation {
        guard facts.preconditions.demandsPasscode else { return finger }
        _ = try await ask(.passcode, facts, bookkeeping)
        return finger.withPasscode
    }

    /// Prompts for a finger and the passcode at the same time; the first correct one is the answer.
    func either(
        _ reader: any FingerprintReader,
        _ facts: PreflightFacts,
        _ bookkeeping: EvaluationBookkeeping
    ) async throws(ServiceError) -> Evaluation {
        try await ask([.finger, .passcode], facts, bookkeeping) { decision, entry in
            // The time limit applies to the prompt as a whole, so its parts have no limits.
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

    /// Prompts for the passcode only, because a finger cannot be used.
    ///
    /// - Throws: `notInteractive` if a prompt cannot be shown; the reason why a finger cannot be used if the prompt
    ///   does not accept the passcode.
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

    /// Shows one prompt for the passcode, and also for the finger if there is a finger part.
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
    /// The message that says why fingers are refused; `nil` if the user already knows, for example because no reader is
    /// connected or no finger is enrolled.
    fileprivate var worthTelling: String? {
        switch code {
        // It is obvious that no reader is connected or no finger is enrolled.
        case .biometryLockout, .placeRests, .readerNotChosen, .biometryOptedOut: message
        case .biometryNotAvailable, .readerInUse: nil
        default: isDistrust || category == .readerUnavailable ? message : nil
        }
    }
}
