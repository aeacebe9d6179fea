// SPDX-License-Identifier: Apache-2.0

internal import Authentication

/// Remembers for a task that it shows a prompt.
///
/// What a presenter begins and waits for cannot prompt itself: prompts take turns, and its own one is shown.
struct PresentingTask: PromptPresenter {
    /// Whether the task that runs was begun by a prompt.
    @TaskLocal static var isRunning = false

    let presenter: any PromptPresenter

    var isInteractive: Bool { get async { await presenter.isInteractive } }
    var takesPasscode: Bool { get async { await presenter.takesPasscode } }

    func show(_ prompt: Prompt, updates: AsyncStream<PromptUpdate>) async -> PromptAction? {
        await PresentingTask.$isRunning.withValue(true) { await presenter.show(prompt, updates: updates) }
    }

    func show(_ prompt: Prompt, passcode: PasscodeEntry) async -> PromptAction? {
        await PresentingTask.$isRunning.withValue(true) { await presenter.show(prompt, passcode: passcode) }
    }
}
