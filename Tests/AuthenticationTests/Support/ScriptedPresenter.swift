// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Synchronization
import WhorlService

/// A prompt that remembers what it was told, and presses a button where a test says so.
final class ScriptedPresenter: PromptPresenter {
    typealias Press = @Sendable (PromptUpdate) -> PromptAction?

    private struct State {
        var prompts: [Prompt] = []
        var updates: [PromptUpdate] = []
        var isShown = false
    }

    private let interactive: Bool
    private let press: Press
    private let state = Mutex(State())

    /// Presses the button that `press` gives for an update.
    init(interactive: Bool = true, press: @escaping Press = { _ in nil }) {
        self.interactive = interactive
        self.press = press
    }

    /// Presses a button as soon as the reader waits for a finger.
    static func pressing(_ action: PromptAction) -> ScriptedPresenter {
        ScriptedPresenter { $0 == .scan(.touch) ? action : nil }
    }

    var prompts: [Prompt] { state.withLock { $0.prompts } }
    var updates: [PromptUpdate] { state.withLock { $0.updates } }
    var isShown: Bool { state.withLock { $0.isShown } }

    var isInteractive: Bool {
        get async { interactive }
    }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        state.withLock { state in
            state.prompts.append(prompt)
            state.isShown = true
        }
        defer { state.withLock { $0.isShown = false } }
        for await update in entry.updates {
            state.withLock { $0.updates.append(update) }
            if let action = press(update) { return action }
        }
        return nil
    }
}
