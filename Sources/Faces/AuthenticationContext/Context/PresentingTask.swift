// SPDX-License-Identifier: Apache-2.0

import WhorlService

/// A presenter that marks the current task as showing a prompt.
///
/// A presenter must not wait for a prompt of its own: prompts take turns, and its own prompt is still shown.
struct PresentingTask: PromptPresenter {
    /// Whether the current task was started by a prompt.
    @TaskLocal static var isRunning = false

    let presenter: any PromptPresenter

    var isInteractive: Bool { get async { await presenter.isInteractive } }
    var takesPasscode: Bool { get async { await presenter.takesPasscode } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        await PresentingTask.$isRunning.withValue(true) { await presenter.show(prompt, entry) }
    }
}
