// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import WhorlService
import WhorlSupport

/// The race between a finger and the passcode in one prompt, or the passcode alone.
///
/// Neither part waits for the other. A part that ends without success leaves the prompt to the other one. The first
/// success ends both, and so do a button, the cancellation of the program's task and the idle timeout. Which
/// success is the first is decided where it is recorded (``Decision``). The race returns only when both parts have
/// ended, so that the reader is being closed and no passcode is left in memory.
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

    /// The passcode's part.
    let passcode: PasscodeLoop
    /// The time limit of the prompt for a person who does nothing.
    let idle: IdleTimeout
    /// The finger's part; `nil` where no finger can be asked for.
    let finger: FingerPart?

    private var entry: PromptEntry { passcode.entry }

    /// Shows the prompt and runs both parts beside it.
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
            // At most one part succeeds: the decision is taken once.
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

    /// Returns the outcome of the evaluation, in which the error of a cancelled part is not the cause of the end.
    private static func decide(_ score: Score) -> Outcome {
        if let evaluation = score.success { return .success(evaluation) }
        if Task.isCancelled { return .failure(ServiceError(.appCancel)) }
        if score.isTimeUp { return .failure(.nothingCame) }
        // The finger's error takes precedence: the program's owner can mend its cause, while a passcode can be typed
        // again.
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

/// The decision which method of one evaluation succeeded first: only that method becomes the result and is recorded.
///
/// It is taken inside the transaction that records the success. Transactions run one after the other, so of two methods
/// that succeed at the same moment one is always the first, and the second finds that record on the disk.
package final class Decision: Sendable {
    private let first = Mutex<Evaluation.Method?>(nil)

    /// Makes a decision that is still open.
    package init() {}

    /// Takes the decision for a method, and returns whether that method is the first.
    package func take(_ method: Evaluation.Method) -> Bool {
        first.withLock { first in
            guard first == nil else { return false }
            first = method
            return true
        }
    }

    /// Reopens the decision, since the success of the method that took it could not be recorded.
    package func giveBack(_ method: Evaluation.Method) {
        first.withLock { if $0 == method { $0 = nil } }
    }
}
