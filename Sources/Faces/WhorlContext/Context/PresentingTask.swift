// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
import WhorlService
internal import WhorlSupport

/// A presenter that marks the current task as showing a prompt, and abandons a prompt that does not end.
///
/// A presenter must not start another prompt and wait for it, because prompts take turns and the presenter's current
/// prompt is still shown. A presenter also cannot show anything on a thread that is waiting for the evaluation, such as
/// a program's main thread in a keychain call. In this case, the finger is read nevertheless.
struct PresentingTask: PromptPresenter {
    /// Whether the current task was started by a prompt.
    @TaskLocal static var isRunning = false

    /// The time within which the presenter must return after its prompt has ended.
    static let patience = Duration.seconds(10)

    let presenter: any PromptPresenter

    // These have no time limit. On a busy machine, a late answer must not turn into a different one.
    var isInteractive: Bool { get async { await presenter.isInteractive } }
    var takesPasscode: Bool { get async { await presenter.takesPasscode } }
    var handsPasscodeIn: Bool { get async { await presenter.handsPasscodeIn } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        let answer = OnceAnswer<PromptAction?>()
        let showing = Task(executorPreference: WorkerThread.evaluations) {
            await PresentingTask.$isRunning.withValue(true) {
                answer.give(await presenter.show(prompt, entry))
            }
        }
        entry.whenEnded { OffPoolTimer.run(after: PresentingTask.patience) { answer.give(nil) } }
        return await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            showing.cancel()
        }
    }
}

/// An answer that one task waits for.
///
/// Only the first answer counts.
private final class OnceAnswer<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case given(Value)
    }

    private let state = Mutex(State.open)

    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let value: Value? = state.withLock { state in
                    guard case .given(let value) = state else {
                        state = .awaited(continuation)
                        return nil
                    }
                    return value
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }

    func give(_ value: Value) {
        let waiting: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .open:
                state = .given(value)
                return nil
            case .awaited(let continuation):
                state = .given(value)
                return continuation
            case .given: return nil
            }
        }
        waiting?.resume(returning: value)
    }
}
