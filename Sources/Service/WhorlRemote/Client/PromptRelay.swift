// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import Synchronization
import WhorlIPC
import WhorlService

/// Shows the prompts of one call by using the caller's presenter.
final class RemotePrompts<Reply: Codable & Sendable>: Sendable {
    private let relay: PromptRelay
    private let observer: @Sendable (EnrollmentProgress) -> Void
    /// The ID of the newest prompt, to which the call's updates apply.
    private let newest = Mutex("")

    init(_ prompter: Prompter, _ client: ServiceClient) {
        // The service does not wait for the requesting program, because its reply comes last.
        relay = PromptRelay(prompter.presenter, client, confirmsEnds: false)
        observer = prompter.observer
    }

    /// Handles an update of the call.
    func take(_ update: Prompted<Reply>) {
        if let shown = update.prompt {
            newest.withLock { $0 = shown.id }
            relay.show(shown)
        }
        if let change = update.update { relay.change(newest.withLock(\.self), change) }
        if let end = update.end { relay.end(end) }
        if let progress = update.progress { observer(progress) }
    }

    /// Ends the current prompt, and waits until the presenter has dismissed it.
    func finish() async { await relay.finish() }
}

/// Shows the service's prompts with a presenter, one after another, and sends the user's actions to the service.
final class PromptRelay: Sendable {
    private struct State {
        /// The prompts that have not ended.
        var entries: [String: PromptEntry] = [:]
        /// The task that shows the newest prompt; it begins when the previous prompt has ended.
        var showing: Task<Void, Never>?
        /// Whether updates from the service are being passed on, so that they are not mistaken for actions of the user.
        var isPassing = false
        var lastTyping: ContinuousClock.Instant?
        /// The number of prompts that are shown or waiting, followed by the time since when there have been none.
        var open = 0
        var quietSince = ContinuousClock.now
    }

    private let presenter: any PromptPresenter
    private let client: ServiceClient
    private let confirmsEnds: Bool
    private let state = Mutex(State())

    /// Creates a relay that uses a presenter.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts.
    ///   - client: The connection to the service.
    ///   - confirmsEnds: Whether the service waits for a confirmation that a prompt that it ended is no longer shown.
    init(_ presenter: any PromptPresenter, _ client: ServiceClient, confirmsEnds: Bool) {
        self.presenter = presenter
        self.client = client
        self.confirmsEnds = confirmsEnds
    }

    /// Shows a prompt when the earlier ones have ended.
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

    /// Ends all prompts, and waits until the presenter has dismissed them.
    func finish() async {
        let (ids, showing) = state.withLock { (Array($0.entries.keys), $0.showing) }
        for id in ids { end(id) }
        await showing?.value
    }

    /// The current abilities of the presenter.
    var abilities: PresenterAbilities {
        get async { await PresenterAbilities(of: presenter) }
    }

    /// Returns whether no prompt has been shown for a given time and none is waiting.
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
        // If the service no longer knows the prompt, it has ended there.
        _ = try? await client.call(ending)
    }

    private func sendPasscodes(of entry: PromptEntry, to prompt: String) async {
        await entry.each { box async in
            // A passcode that does not arrive is not compared; the prompt's time limit ends it.
            _ = try? await client.call(PromptInterface.Submit(prompt: prompt, passcode: box))
            return false
        }
        // A prompt that has ended accepts none anyway.
        guard state.withLock({ $0.entries[prompt] != nil }) else { return }
        // If this does not arrive, the prompt's time limit ends it.
        _ = try? await client.call(PromptInterface.Close(prompt: prompt))
    }

    /// Reports that the user is typing, at most four times a second.
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
            // Without it, the service's time limit keeps running.
            _ = try? await client.call(PromptInterface.Typing(prompt: prompt))
        }
    }
}

extension PresenterAbilities {
    /// Creates the description of a presenter's current abilities.
    init(of presenter: any PromptPresenter) async {
        self.init(
            isInteractive: await presenter.isInteractive,
            takesPasscode: await presenter.takesPasscode
        )
        if await presenter.handsPasscodeIn { hasPasscode = true }
    }
}
