// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import WhorlSecretMemory
import Synchronization
import WhorlService

/// A prompt with a person at its keyboard, who does what a test says.
final class TypingPresenter: PromptPresenter {
    /// What the person does.
    enum Move: Sendable {
        /// Types a passcode and presses Enter.
        case type(String)
        /// Presses a button.
        case press(PromptAction)
        /// Goes away.
        case leave
    }

    typealias React = @Sendable (PromptUpdate) -> [Move]

    private struct State {
        var prompts: [Prompt] = []
        var updates: [PromptUpdate] = []
        var refused = 0
        var isShown = false
        var entry: PromptEntry?
    }

    private let interactive: Bool
    private let first: [Move]
    private let react: React
    private let state = Mutex(State())

    /// Does `first` at once, and what `react` gives for an update.
    init(interactive: Bool = true, _ first: [Move] = [], react: @escaping React = { _ in [] }) {
        self.interactive = interactive
        self.first = first
        self.react = react
    }

    var prompts: [Prompt] { state.withLock { $0.prompts } }
    var updates: [PromptUpdate] { state.withLock { $0.updates } }
    /// Passcodes that were not taken.
    var refused: Int { state.withLock { $0.refused } }
    var isShown: Bool { state.withLock { $0.isShown } }
    var entry: PromptEntry? { state.withLock { $0.entry } }

    var isInteractive: Bool { get async { interactive } }
    var takesPasscode: Bool { get async { interactive } }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        state.withLock { state in
            state.prompts.append(prompt)
            state.isShown = true
            state.entry = entry
        }
        defer { state.withLock { $0.isShown = false } }
        if let end = perform(first, entry) { return end.action }
        for await update in entry.updates {
            state.withLock { $0.updates.append(update) }
            if let end = perform(react(update), entry) { return end.action }
        }
        return nil
    }

    private func perform(_ moves: [Move], _ entry: PromptEntry) -> (action: PromptAction?, Void)? {
        for move in moves {
            switch move {
            case .type(let text):
                if !entry.submit(secret(text)) { state.withLock { $0.refused += 1 } }
            case .press(let action): return (action, ())
            case .leave: return (nil, ())
            }
        }
        return nil
    }
}

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8).span.bytes) }

extension Fixture {
    /// Evaluates once with a passcode, under the policy that it can meet where no other request is given.
    func answer(
        _ presenter: any PromptPresenter,
        _ request: EvaluationRequest = Fixture.request(.deviceOwner),
        passcode: any PasscodeAuthority = MemoryPasscode(),
        connected: Bool = true
    ) async -> Result<Evaluation, ServiceError> {
        await answer(presenter, request, engine: engine(connected: connected, passcode: passcode))
    }

    func answer(
        _ presenter: any PromptPresenter,
        _ request: EvaluationRequest = Fixture.request(.deviceOwner),
        engine: AuthenticationEngine
    ) async -> Result<Evaluation, ServiceError> {
        do throws(ServiceError) {
            return .success(try await engine.evaluate(request, presenter: presenter))
        } catch {
            return .failure(error)
        }
    }
}
