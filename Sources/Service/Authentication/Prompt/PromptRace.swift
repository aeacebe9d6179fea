// SPDX-License-Identifier: Apache-2.0

import Fingerprint
import Synchronization

/// The line on which the scan loop sends updates to the prompt, in the order of the calls, which never wait.
package struct PromptLine: Sendable {
    private let sink: @Sendable (PromptUpdate) -> Void

    package init(_ sink: AsyncStream<PromptUpdate>.Continuation) { self.sink = { sink.yield($0) } }

    package init(_ sink: @escaping @Sendable (PromptUpdate) -> Void) { self.sink = sink }

    package func send(_ update: PromptUpdate) { sink(update) }
}

/// The run of a prompt beside a scan, until both have ended.
package struct PromptRace: Sendable {
    package typealias Outcome = Result<Evaluation, AuthenticationError>

    private enum Ending: Sendable {
        case prompt(PromptAction?)
        case scan(Outcome)
    }

    package let prompt: Prompt
    package let presenter: any PromptPresenter

    package init(prompt: Prompt, presenter: any PromptPresenter) {
        self.prompt = prompt
        self.presenter = presenter
    }

    /// Runs `scan` beside the prompt.
    ///
    /// A button ends the scan, by cancelling its task. The end of the scan ends the prompt's updates. A success that is
    /// recorded when a button is pressed stays a success, so that the answer and the records agree.
    package func run(_ scan: @escaping @Sendable (PromptLine) async -> Outcome) async -> Outcome {
        let (updates, sink) = AsyncStream.makeStream(of: PromptUpdate.self)
        return await PromptRace.between { [presenter, prompt] in
            await presenter.show(prompt, updates: updates)
        } and: {
            let outcome = await scan(PromptLine(sink))
            sink.yield(PromptRace.lastUpdate(of: outcome))
            sink.finish()
            return outcome
        }
    }

    /// Runs any prompt beside any work whose end ends the prompt's updates.
    package static func between(
        _ show: @escaping @Sendable () async -> PromptAction?,
        and work: @escaping @Sendable () async -> Outcome
    ) async -> Outcome {
        await withTaskGroup(of: Ending.self) { group in
            group.addTask { .prompt(await show()) }
            group.addTask { .scan(await work()) }
            var pressed: PromptAction?
            var outcome: Outcome?
            for await ending in group {
                switch ending {
                case .scan(let ended):
                    outcome = ended
                case .prompt(let action):
                    guard outcome == nil, let action else { continue }
                    pressed = action
                    group.cancelAll()
                }
            }
            return PromptRace.decide(outcome, pressed)
        }
    }

    private static func lastUpdate(of outcome: Outcome) -> PromptUpdate {
        switch outcome {
        case .success(let evaluation): evaluation.finger.map(PromptUpdate.matched) ?? .ended("")
        case .failure(let error): .ended(error.message)
        }
    }

    private static func decide(_ outcome: Outcome?, _ pressed: PromptAction?) -> Outcome {
        switch (outcome, pressed) {
        case (.success(let evaluation), _): .success(evaluation)
        // The task was cancelled from outside, so the prompt's answer did not come from the person.
        case (.failure, .some) where Task.isCancelled: .failure(AuthenticationError(.appCancel))
        case (.failure, .cancel): .failure(AuthenticationError(.userCancel))
        case (.failure, .fallback): .failure(AuthenticationError(.userFallback))
        case (.failure(let error), nil): .failure(error)
        // Both tasks of the group end with a value, so this never occurs.
        case (nil, _): .failure(AuthenticationError(.systemCancel, cause: "the scan gave no outcome"))
        }
    }
}
