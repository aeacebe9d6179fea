// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService
import WhorlSupport

/// The presenter for a call from another process, which shows prompts in the caller or in an agent.
///
/// It forwards updates, and reports of the user's actions. No report can make an evaluation succeed: the engine
/// compares passcodes, and a button only ends the prompt.
final class WirePresenter<Reply: Codable & Sendable>: PromptPresenter {
    /// The maximum time for a screen to confirm that a prompt has ended.
    private static var patience: Duration { .seconds(2) }

    private struct State {
        /// The screen that shows all prompts of the call, once it has been chosen.
        ///
        /// It stays the same, so that the requesting program cannot take over a prompt from an agent that exits.
        var screen: (any PromptScreen)?
        var prompt: WirePrompt?
        var hasHungUp = false
        var loss: ServiceError?
        var stop: (@Sendable () -> Void)?
    }

    private let call: ServiceCall
    private let caller: CallerPromptScreen<Reply>
    /// Whether the requesting program may supply a passcode.
    ///
    /// A program that is or may be confined could try passcodes without prompting the user. For such a program, only an
    /// agent may supply them.
    private let takesOwnPasscode: Bool
    private let host: ServiceHost
    /// The session of the requesting program; this session's agent shows the prompts.
    private let session: String?
    private let state = Mutex(State())

    init(_ abilities: PresenterAbilities, _ call: ServiceCall, by caller: Caller, _ host: ServiceHost) {
        self.call = call
        self.host = host
        session = caller.asker?.session
        self.caller = CallerPromptScreen(abilities, call)
        takesOwnPasscode = caller.confinement == Confinement.none
    }

    /// Returns the reason why the requesting program does not receive the result if the screen of its session was
    /// locked in the meantime.
    func lateLock() async -> ServiceError? { await host.lateLock(of: session, call) }

    /// The reason why prompts are not shown, or no longer shown; `nil` if there is none.
    var loss: ServiceError? { state.withLock(\.loss) }

    /// Whether the user can see the prompt, according to the program that shows it.
    var isInteractive: Bool {
        get async { handsIn && caller.abilities.isInteractive || screen()?.abilities.isInteractive ?? false }
    }

    var takesPasscode: Bool {
        get async {
            if handsIn { return true }
            guard let screen = screen(), takesOwnPasscode || screen !== caller else { return false }
            return screen.abilities.takesPasscode
        }
    }

    var handsPasscodeIn: Bool { get async { handsIn } }

    /// Whether the requesting program supplies a passcode that it already has.
    ///
    /// It then does not show a prompt or wait for a finger.
    private var handsIn: Bool {
        let abilities = caller.abilities
        return takesOwnPasscode && host.promptRules.agents != .required && abilities.hasPasscode == true
            && abilities.takesPasscode
    }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        // The agent prompts for a finger, whatever the program supplies.
        let own: (any PromptScreen)? = handsIn && prompt.parts == .passcode ? caller : nil
        guard let screen = own ?? screen() else {
            stop()
            return nil
        }
        let shown = WirePrompt(entry, at: screen)
        let hasHungUp = state.withLock { state in
            state.prompt = shown
            return state.hasHungUp
        }
        guard !hasHungUp else { return nil }
        host.prompts.add(shown)
        defer { host.prompts.remove(shown) }
        if screen !== caller { call.update(Prompted<Reply>(elsewhere: true)) }
        screen.begin(shown, ShownPrompt(id: shown.id, prompt: prompt))
        let forwarding = Task {
            for await update in entry.updates { screen.change(shown, update) }
            // A task cancelled below also leaves the loop, although the engine has not ended anything.
            if !Task.isCancelled { Self.end(shown) }
        }
        // The engine cancels this task if the prompt must go before its updates end.
        let ending = await withTaskCancellationHandler {
            await shown.waitForEnding()
        } onCancel: {
            Self.end(shown)
        }
        forwarding.cancel()
        screen.ended(shown, ending)
        // A screen that goes away after the engine or the user has ended the prompt is not a loss.
        if ending == nil, screen.isGone, !shown.isOver { lose(.agentEnded) }
        return ending?.action
    }

    /// Tells the screen to end the prompt, and waits at most ``patience`` for its confirmation.
    ///
    /// It does not wait for the requesting program, which receives its answer afterwards and shows one prompt after
    /// another.
    private static func end(_ shown: WirePrompt) {
        shown.markOver()
        shown.screen.end(shown)
        guard shown.screen.isOfAgent else { return shown.end(nil) }
        OffPoolTimer.run(after: patience) { shown.end(nil) }
    }

    /// Returns the screen, which is chosen when it is first used; `nil` if an agent is required and none is registered.
    ///
    /// If the session has an agent, the agent shows every prompt for a finger.
    private func screen() -> (any PromptScreen)? {
        if let screen = state.withLock(\.screen) { return screen }
        let found = host.screen(for: call, in: session, else: caller)
        return state.withLock { state in
            state.screen = state.screen ?? found
            state.loss = state.screen == nil ? .noAgent : nil
            return state.screen
        }
    }

    /// Sets the function that stops the call.
    func onLoss(_ stop: @escaping @Sendable () -> Void) { state.withLock { $0.stop = stop } }

    /// Stops the call, because its prompt may no longer be shown.
    func lose(_ error: ServiceError) {
        state.withLock { $0.loss = error }
        stop()
    }

    private func stop() { state.withLock(\.stop)?() }

    /// Reports that the caller has closed its connection, so that nothing waits for a confirmation.
    func hangUp() {
        let prompt = state.withLock { state in
            state.hasHungUp = true
            return state.prompt
        }
        guard let prompt else { return }
        if prompt.screen !== caller { prompt.screen.end(prompt) }
        prompt.end(nil)
    }

    /// Reports the progress of an enrollment.
    func report(_ progress: EnrollmentProgress) { call.update(Prompted<Reply>(progress: progress)) }
}

/// A program that shows prompts: the requesting program or an agent.
protocol PromptScreen: AnyObject, Sendable {
    /// The process whose answers are accepted, with its user.
    var answerer: PeerUser { get }
    /// The abilities that the program last reported.
    var abilities: PresenterAbilities { get }
    /// Whether the program can no longer show prompts.
    var isGone: Bool { get }
    /// Whether the program is an agent, not the requesting program.
    var isOfAgent: Bool { get }

    /// Shows a prompt.
    func begin(_ prompt: WirePrompt, _ content: ShownPrompt)
    /// Shows a change of a prompt.
    func change(_ prompt: WirePrompt, _ update: PromptUpdate)
    /// Dismisses a prompt.
    func end(_ prompt: WirePrompt)
    /// Records that a prompt is no longer shown.
    func ended(_ prompt: WirePrompt, _ ending: PromptInterface.Ended?)
}

/// The requesting program, which shows its prompts itself.
final class CallerPromptScreen<Reply: Codable & Sendable>: PromptScreen {
    private let call: ServiceCall
    private let state: Mutex<PresenterAbilities>

    init(_ abilities: PresenterAbilities, _ call: ServiceCall) {
        self.call = call
        state = Mutex(abilities)
    }

    var answerer: PeerUser { call.client.user }
    /// The program's abilities.
    ///
    /// A program that does not accept updates cannot show prompts, regardless of what it reports.
    var abilities: PresenterAbilities { call.wantsMore ? state.withLock(\.self) : .none }
    /// Always `false`, because the end of the call is reported directly to the presenter.
    var isGone: Bool { false }
    var isOfAgent: Bool { false }

    func begin(_ prompt: WirePrompt, _ content: ShownPrompt) { call.update(Prompted<Reply>(prompt: content)) }
    func change(_ prompt: WirePrompt, _ update: PromptUpdate) { call.update(Prompted<Reply>(update: update)) }
    func end(_ prompt: WirePrompt) { call.update(Prompted<Reply>(end: prompt.id)) }

    func ended(_ prompt: WirePrompt, _ ending: PromptInterface.Ended?) {
        guard let ending else { return }
        state.withLock { $0 = ending.presenter }
    }
}

extension PresenterAbilities {
    /// The abilities of a program that cannot show prompts.
    static let none = PresenterAbilities(isInteractive: false, takesPasscode: false)
}
