// SPDX-License-Identifier: Apache-2.0

package import WhorlService

/// Runs a prompt and a scan at the same time, until both have ended.
package struct PromptRace: Sendable {
    package typealias Outcome = Result<Evaluation, ServiceError>

    private enum Ending: Sendable {
        case prompt(PromptAction?)
        case scan(Outcome)
    }

    private let prompt: Prompt
    private let presenter: any PromptPresenter
    private let entry: PromptEntry

    /// Creates a race for a prompt; the default `entry` does not accept a passcode.
    package init(prompt: Prompt, presenter: any PromptPresenter, entry: PromptEntry = PromptEntry(.finger)) {
        self.prompt = prompt
        self.presenter = presenter
        self.entry = entry
    }

    /// Runs `scan` while the prompt is shown.
    ///
    /// A button ends the scan by cancelling its task. When the scan ends, the prompt's updates end. A success that is
    /// being recorded when a button is pressed remains a success, so that the answer and the records agree.
    package func result(_ scan: @escaping @Sendable (PromptEntry) async -> Outcome) async -> Outcome {
        await withTaskGroup(of: Ending.self) { group in
            group.addTask {
                let action = await presenter.show(prompt, entry)
                // The prompt has ended, so no further passcode can come.
                entry.close()
                return .prompt(action)
            }
            group.addTask {
                let outcome = await scan(entry)
                entry.send(PromptRace.lastUpdate(of: outcome))
                entry.end()
                return .scan(outcome)
            }
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
        case .success(let evaluation): evaluation.finger.map(PromptUpdate.matched) ?? .verified
        case .failure(let error): .ended(error.message)
        }
    }

    private static func decide(_ outcome: Outcome?, _ pressed: PromptAction?) -> Outcome {
        switch (outcome, pressed) {
        case (.success(let evaluation), _): .success(evaluation)
        // The task was cancelled by its caller, so the prompt's answer did not come from the user.
        case (.failure, .some) where Task.isCancelled: .failure(ServiceError(.appCancel))
        case (.failure, .cancel): .failure(ServiceError(.userCancel))
        case (.failure, .fallback): .failure(ServiceError(.userFallback))
        case (.failure(let error), nil): .failure(error)
        // Both tasks of the group end with a value, so this never occurs.
        case (nil, _): .failure(ServiceError(.systemCancel, cause: "the scan ended without an outcome"))
        }
    }
}
