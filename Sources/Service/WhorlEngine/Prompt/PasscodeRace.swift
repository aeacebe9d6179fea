// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import WhorlService
import WhorlSupport

/// The race between a finger and the passcode in one prompt, or a prompt for the passcode alone.
///
/// Neither part waits for the other. If one part fails, the prompt stays open for the other. Both parts end with the
/// first success, a button, the cancellation of the program's task, or the idle timeout. Which success is first is
/// determined when it is recorded (``Decision``). The race returns only after both parts have ended, so that the reader
/// is being closed and no passcode is left in memory.
struct PasscodeRace: Sendable {
    typealias Outcome = PromptRace.Outcome
    typealias FingerPart = @Sendable (Decision, PromptEntry) async -> Outcome

    private enum Ending: Sendable {
        case finger(Outcome)
        case passcode(Outcome)
        case idle(isOver: Bool)
    }

    /// The results of the parts that have ended so far.
    private struct Score {
        var success: Evaluation?
        var finger: ServiceError?
        var passcode: ServiceError?
        var isTimeUp = false
    }

    /// The part for the passcode.
    let passcode: PasscodeLoop
    /// The time limit of the prompt while the user does nothing.
    let idle: IdleTimeout
    /// The part for the finger; `nil` if a finger cannot be used.
    let finger: FingerPart?

    private var entry: PromptEntry { passcode.entry }

    /// Shows the prompt and runs both parts at the same time.
    func result(_ prompt: Prompt, _ presenter: any PromptPresenter) async -> Outcome {
        await PromptRace(prompt: prompt, presenter: presenter, entry: entry).result { _ in await parts() }
    }

    private func parts() async -> Outcome {
        await withTaskGroup(of: Ending.self) { group in
            if let finger { group.addTask { .finger(await finger(passcode.decision, entry)) } }
            group.addTask { .passcode(await comparePasscodes()) }
            group.addTask { .idle(isOver: await idle.end()) }
            var score = Score()
            for await ending in group {
                note(ending, &score)
                if isOver(score) { group.cancelAll() }
            }
            return PasscodeRace.decide(score)
        }
    }

    private func comparePasscodes() async -> Outcome {
        do throws(ServiceError) {
            return .success(try await passcode.firstSuccess())
        } catch {
            return .failure(error)
        }
    }

    private func note(_ ending: Ending, _ score: inout Score) {
        let wasOver = isOver(score)
        switch ending {
        case .finger(.success(let evaluation)), .passcode(.success(let evaluation)):
            // At most one part succeeds, because the decision is made only once.
            score.success = evaluation
        case .finger(.failure(let error)):
            score.finger = error
            if !wasOver, !isOver(score) { entry.send(.fingerEnded(error.message)) }
        case .passcode(.failure(let error)):
            score.passcode = error
            if !wasOver, !isOver(score) { entry.send(.passcodeEnded(error.message)) }
        case .idle(let isOver):
            score.isTimeUp = score.isTimeUp || isOver
        }
    }

    private func isOver(_ score: Score) -> Bool {
        score.success != nil || score.isTimeUp || Task.isCancelled
            || (score.passcode != nil && (finger == nil || score.finger != nil))
    }

    /// Returns the outcome of the evaluation, ignoring the error of a part that was cancelled.
    private static func decide(_ score: Score) -> Outcome {
        if let evaluation = score.success { return .success(evaluation) }
        if Task.isCancelled { return .failure(ServiceError(.appCancel)) }
        if score.isTimeUp { return .failure(.nothingCame) }
        // The finger's error takes precedence: the owner can fix its cause, while a passcode can be typed again.
        return .failure(score.finger ?? score.passcode ?? .nothingCame)
    }
}

extension ServiceError {
    fileprivate static let nothingCame = ServiceError(
        .timedOut,
        message: "No touch or passcode before the timeout.",
        recovery: "Try again, and touch the reader or enter the passcode."
    )
}

/// The decision on which method of one evaluation succeeded first.
///
/// Only that method becomes the result and is recorded.
///
/// It is made in the transaction that records the success. Transactions run one after another, so if two methods
/// succeed at the same moment, one is always first, and the other one finds that record on disk.
package final class Decision: Sendable {
    private let first = Mutex<Evaluation.Method?>(nil)

    /// Creates a decision that is still open.
    package init() {}

    /// Claims the decision for a method, and returns whether that method is the first.
    package func take(_ method: Evaluation.Method) -> Bool {
        first.withLock { first in
            guard first == nil else { return false }
            first = method
            return true
        }
    }

    /// Reopens the decision, because the success of the method that claimed it could not be recorded.
    package func giveBack(_ method: Evaluation.Method) {
        first.withLock { if $0 == method { $0 = nil } }
    }
}
