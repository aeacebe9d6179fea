// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService
import WhorlSupport

/// The presenter of a call from another process: it shows its prompts at the caller, or at an agent.
///
/// It passes updates on, and what is said there about the person's acts. Nothing that is said makes an evaluation
/// succeed: passcodes are compared by the engine, and a button ends the prompt.
final class WirePresenter<Reply: Codable & Sendable>: PromptPresenter {
    /// The time that a screen has to confirm the end of a prompt.
    private static var patience: Duration { .seconds(2) }

    private struct State {
        /// The screen of all prompts of the call, once it has been chosen; it stays the same, so that the program that
        /// asks cannot take a prompt over from an agent that ends.
        var screen: (any PromptScreen)?
        var prompt: WirePrompt?
        var hasHungUp = false
        var loss: ServiceError?
        var stop: (@Sendable () -> Void)?
    }

    private let call: ServiceCall
    private let caller: CallerPromptScreen<Reply>
    /// Whether a passcode is taken from the program that asks; a confined one, or one that may be, could try passcodes
    /// without a prompt, so only an agent takes them for it.
    private let takesOwnPasscode: Bool
    private let host: ServiceHost
    /// The session of the program that asks, whose agent shows its prompts.
    private let session: String?
    private let state = Mutex(State())

    init(_ abilities: PresenterAbilities, _ call: ServiceCall, by caller: Caller, _ host: ServiceHost) {
        self.call = call
        self.host = host
        session = caller.asker?.session
        self.caller = CallerPromptScreen(abilities, call)
        takesOwnPasscode = caller.confinement == Confinement.none
    }

    /// Returns the reason why the program that asks may get nothing, since the screen of its session is locked by now.
    func lateLock() async -> ServiceError? { await host.lateLock(of: session, call) }

    /// The reason why no prompt is shown, or is shown no longer; `nil` while there is none.
    var loss: ServiceError? { state.withLock(\.loss) }

    /// Whether a person can see the prompt, by the word of the program that shows it.
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

    /// Whether the program that asks hands in a passcode that it has; it shows nothing then, and no finger is waited for.
    private var handsIn: Bool {
        let abilities = caller.abilities
        return takesOwnPasscode && host.promptRules.agents != .required && abilities.hasPasscode == true
            && abilities.takesPasscode
    }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        // A finger is asked for at the agent, whatever the program has.
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
            // A task that is cancelled below leaves the loop too, and the engine has ended nothing then.
            if !Task.isCancelled { Self.end(shown) }
        }
        // The engine cancels this task when the prompt has to go before its updates end.
        let ending = await withTaskCancellationHandler {
            await shown.waitForEnding()
        } onCancel: {
            Self.end(shown)
        }
        forwarding.cancel()
        screen.ended(shown, ending)
        // A screen that goes after the engine or the person has ended the prompt takes nothing away.
        if ending == nil, screen.isGone, !shown.isOver { lose(.agentEnded) }
        return ending?.action
    }

    /// Tells the screen that the prompt ends, and waits for its word no longer than ``patience``.
    ///
    /// The program that asks is not waited for: it gets its answer after that, and shows one prompt after the other.
    private static func end(_ shown: WirePrompt) {
        shown.markOver()
        shown.screen.end(shown)
        guard shown.screen.isOfAgent else { return shown.end(nil) }
        OffPoolTimer.run(after: patience) { shown.end(nil) }
    }

    /// Returns the screen, which is chosen at the first question; `nil` where there has to be an agent and is none.
    ///
    /// An agent of the session shows every prompt for a finger.
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

    /// Stops the call, since its prompt may be shown no longer.
    func lose(_ error: ServiceError) {
        state.withLock { $0.loss = error }
        stop()
    }

    private func stop() { state.withLock(\.stop)?() }

    /// Reports that the caller is gone, so that nothing waits for a word.
    func hangUp() {
        let prompt = state.withLock { state in
            state.hasHungUp = true
            return state.prompt
        }
        guard let prompt else { return }
        if prompt.screen !== caller { prompt.screen.end(prompt) }
        prompt.end(nil)
    }

    /// Reports how an enrollment goes on.
    func report(_ progress: EnrollmentProgress) { call.update(Prompted<Reply>(progress: progress)) }
}

/// A place where a prompt is shown: at the program that asks, or at an agent.
protocol PromptScreen: AnyObject, Sendable {
    /// The process whose answers count, with its user.
    var answerer: PeerUser { get }
    /// The abilities as they were last told.
    var abilities: PresenterAbilities { get }
    /// Whether nothing is shown there any longer.
    var isGone: Bool { get }
    /// Whether it is another program's than the one that asks.
    var isOfAgent: Bool { get }

    /// Shows a prompt.
    func begin(_ prompt: WirePrompt, _ content: ShownPrompt)
    /// Shows a change of a prompt.
    func change(_ prompt: WirePrompt, _ update: PromptUpdate)
    /// Takes a prompt away.
    func end(_ prompt: WirePrompt)
    /// Takes the word that a prompt is no longer shown.
    func ended(_ prompt: WirePrompt, _ ending: PromptInterface.Ended?)
}

/// The program that asks, which shows its prompts itself.
final class CallerPromptScreen<Reply: Codable & Sendable>: PromptScreen {
    private let call: ServiceCall
    private let state: Mutex<PresenterAbilities>

    init(_ abilities: PresenterAbilities, _ call: ServiceCall) {
        self.call = call
        state = Mutex(abilities)
    }

    var answerer: PeerUser { call.client.user }
    /// A program that takes no updates shows no prompt, whatever it says.
    var abilities: PresenterAbilities { call.wantsMore ? state.withLock(\.self) : .none }
    /// The end of the call is told to the presenter itself.
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
    /// The abilities where no prompt can be shown.
    static let none = PresenterAbilities(isInteractive: false, takesPasscode: false)
}
