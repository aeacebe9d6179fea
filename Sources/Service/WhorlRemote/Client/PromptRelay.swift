// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import Synchronization
import WhorlIPC
import WhorlService

/// Shows the prompts of one call on the caller's presenter.
final class RemotePrompts<Reply: Codable & Sendable>: Sendable {
    private let relay: PromptRelay
    private let observer: @Sendable (EnrollmentProgress) -> Void
    /// The newest prompt, which the updates of a call are about.
    private let newest = Mutex("")

    init(_ prompter: Prompter, _ client: ServiceClient) {
        // The service does not wait for the program that asks: its answer comes last.
        relay = PromptRelay(prompter.presenter, client, confirmsEnds: false)
        observer = prompter.observer
    }

    /// Takes an update of the call.
    func take(_ update: Prompted<Reply>) {
        if let shown = update.prompt {
            newest.withLock { $0 = shown.id }
            relay.show(shown)
        }
        if let change = update.update { relay.change(newest.withLock(\.self), change) }
        if let end = update.end { relay.end(end) }
        if let progress = update.progress { observer(progress) }
    }

    /// Ends the prompt that is shown, and waits until the presenter has let it go.
    func finish() async { await relay.finish() }
}

/// Shows prompts of the service on a presenter, one after the other, and sends what the person does to the service.
final class PromptRelay: Sendable {
    private struct State {
        /// The prompts that have not ended.
        var entries: [String: PromptEntry] = [:]
        /// The task of the newest prompt, which begins when the one before has ended.
        var showing: Task<Void, Never>?
        /// Whether updates of the service are being passed on, which are no action of the person.
        var isPassing = false
        var lastTyping: ContinuousClock.Instant?
        /// The number of prompts that are shown or wait, and the moment since which there is none.
        var open = 0
        var quietSince = ContinuousClock.now
    }

    private let presenter: any PromptPresenter
    private let client: ServiceClient
    private let confirmsEnds: Bool
    private let state = Mutex(State())

    /// Makes a relay to a presenter.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts.
    ///   - client: The way to the service.
    ///   - confirmsEnds: Whether the service waits for the word that a prompt which it has ended is gone.
    init(_ presenter: any PromptPresenter, _ client: ServiceClient, confirmsEnds: Bool) {
        self.presenter = presenter
        self.client = client
        self.confirmsEnds = confirmsEnds
    }

    /// Shows a prompt after those before it.
    func show(_ shown: ShownPrompt) {
        let entry = PromptEntry(shown.prompt.parts) { [weak self] in self?.didType(shown.id) }
        state.withLock { state in
            state.entries[shown.id] = entry
            state.open += 1
            let before = state.showing
            state.showing = Task {
                await before?.value
                await self.show(shown, entry)
                self.state.withLock { state in
                    state.open -= 1
                    state.quietSince = .now
                }
            }
        }
    }

    /// Shows a change of a prompt.
    func change(_ id: String, _ update: PromptUpdate) { pass(id) { $0.send(update) } }

    /// Ends a prompt.
    func end(_ id: String) {
        pass(id) { $0.end() }
        state.withLock { $0.entries[id] = nil }
    }

    /// Ends all prompts, and waits until the presenter has let them go.
    func finish() async {
        let (ids, showing) = state.withLock { (Array($0.entries.keys), $0.showing) }
        for id in ids { end(id) }
        await showing?.value
    }

    /// The abilities of the presenter now.
    var abilities: PresenterAbilities {
        get async { await PresenterAbilities(of: presenter) }
    }

    /// Whether no prompt was shown for a time, and none waits.
    func isQuiet(for time: Duration) -> Bool {
        state.withLock { $0.open == 0 && .now - $0.quietSince >= time }
    }

    private func pass(_ id: String, _ body: (PromptEntry) -> Void) {
        let entry = state.withLock { state in
            state.isPassing = true
            return state.entries[id]
        }
        if let entry { body(entry) }
        state.withLock { $0.isPassing = false }
    }

    private func show(_ shown: ShownPrompt, _ entry: PromptEntry) async {
        let passcodes = Task { await self.sendPasscodes(of: entry, to: shown.id) }
        let action = await presenter.show(shown.prompt, entry)
        let isKnown = state.withLock { $0.entries.removeValue(forKey: shown.id) != nil }
        entry.close()
        await passcodes.value
        guard isKnown || confirmsEnds else { return }
        let ending = PromptInterface.Ended(
            prompt: shown.id,
            action: action,
            presenter: await PresenterAbilities(of: presenter)
        )
        // A prompt that the service no longer knows has ended there.
        _ = try? await client.call(ending)
    }

    private func sendPasscodes(of entry: PromptEntry, to prompt: String) async {
        await entry.each { box async in
            // A passcode that does not arrive is not compared; the prompt's time limit ends it.
            _ = try? await client.call(PromptInterface.Submit(prompt: prompt, passcode: box))
            return false
        }
        // A prompt that has ended takes none in any case.
        guard state.withLock({ $0.entries[prompt] != nil }) else { return }
        // The prompt's time limit ends it where this does not arrive.
        _ = try? await client.call(PromptInterface.Close(prompt: prompt))
    }

    /// Reports that the person is typing, at most four times a second.
    private func didType(_ prompt: String) {
        let isDue = state.withLock { state in
            let now = ContinuousClock.now
            guard !state.isPassing, state.lastTyping.map({ now - $0 > .milliseconds(250) }) ?? true else {
                return false
            }
            state.lastTyping = now
            return true
        }
        guard isDue else { return }
        Task {
            // The service's own time limit runs on without it.
            _ = try? await client.call(PromptInterface.Typing(prompt: prompt))
        }
    }
}

extension PresenterAbilities {
    /// The abilities of a presenter now.
    init(of presenter: any PromptPresenter) async {
        self.init(
            isInteractive: await presenter.isInteractive,
            takesPasscode: await presenter.takesPasscode
        )
        if await presenter.handsPasscodeIn { hasPasscode = true }
    }
}
