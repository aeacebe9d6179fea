// SPDX-License-Identifier: Apache-2.0

import CMemory
import MainThread
import WhorlSupport

/// The waiting prompts of all programs.
///
/// Each program is told immediately that it may ask. Only the windows come one at a time.
@MainActor
final class Prompter {
    /// The maximum number of prompts, and of those that do not come from the keyring's daemon.
    private static let limits = (all: 32, others: 16)
    /// The time in milliseconds without a prompt before memory is given back.
    private static let rest: UInt32 = 3_000

    private let bus: Bus
    private let options: Options
    private var prompts: [PromptID: WaitingPrompt] = [:]
    /// The number of the last prompt that has begun.
    private(set) var lastNumber = 0
    /// Whether memory is going to be given back.
    private var isResting = false
    private(set) lazy var touch = TouchLane(self, bus)
    private(set) lazy var dialogs = DialogLane(self, bus)
    private(set) lazy var screen = Screen { [self] in screenChanged() }
    var pauses: Pauses

    init(_ bus: Bus, _ options: Options) {
        self.bus = bus
        self.options = options
        pauses = Pauses(of: options.pause)
        if options.locksInSleep {
            screen.watchSleep { [bus] done in SecretService.lockLogin(on: bus, then: done) }
        } else {
            screen.watchSleep(before: nil)
        }
    }

    /// Returns the prompts in a lane, in the order in which they began.
    func waiting(in lane: WaitingPrompt.Lane) -> [WaitingPrompt] {
        prompts.values.filter { $0.lane == lane }.sorted { $0.number < $1.number }
    }

    // MARK: The calls of programs

    /// Begins a prompt.
    func begin(_ id: PromptID) throws(PromptRefusal) {
        guard prompts[id] == nil else { throw .failed("The prompt has already begun.") }
        guard prompts.count < Self.limits.all else { throw .tooMany("Too many prompts are waiting.") }
        let ownsName = DaemonCheck.ownsName(id.caller, on: bus)
        if !ownsName {
            // The daemon always finds room.
            let others = prompts.values.filter { !$0.ownsName }.count
            guard others < Self.limits.others else { throw .tooMany("Too many prompts are waiting.") }
        }
        lastNumber += 1
        let prompt = WaitingPrompt(id, number: lastNumber, ownsName: ownsName)
        prompt.watch = CallerWatch(id.caller, on: bus) { [self] in remove(id, says: false) }
        prompts[id] = prompt
    }

    /// Asks a question in a prompt that has begun.
    func perform(
        _ id: PromptID,
        _ type: String,
        _ properties: BusValue,
        _ exchange: String
    ) throws(PromptRefusal) {
        guard let prompt = prompts[id] else { throw .failed("The prompt has not begun.") }
        guard prompt.lane == .none else { throw .failed("The prompt already asks a question.") }
        guard type == "password" || type == "confirm" else {
            throw .invalid("The type of the prompt is unknown.")
        }
        try prompt.texts.apply(properties)
        guard prompt.exchange.receive(exchange) else { throw .invalid("The secret exchange is invalid.") }
        prompt.kind =
            type == "confirm" ? .confirmation : prompt.texts.isNewPassword ? .newPassword : .password
        prompt.round += 1
        prompt.lane = .unknown
        prompt.note = ""
    }

    /// Continues with a prompt whose program has the reply to its call.
    func hasReplied(to id: PromptID) {
        guard let prompt = prompts[id] else { return }
        switch prompt.lane {
        case .begun: answer(prompt, "", exchange: prompt.exchange.begin())
        case .unknown: classify(prompt)
        case .none, .touch, .dialog: break
        }
    }

    /// Ends a prompt for its program.
    func stop(_ id: PromptID) { remove(id, says: true) }

    /// Finds out who asks for which keyring, and then lets the prompt wait for its turn.
    private func classify(_ prompt: WaitingPrompt) {
        prompt.isOfDaemon = DaemonCheck.passes(prompt.id.caller, on: bus)
        guard prompt.isOfDaemon, prompt.kind == .password, !prompt.wasOffered else {
            prompt.lane = .dialog
            return dialogs.advance()
        }
        let round = prompt.round
        SecretService.lockedKeyrings(at: prompt.id.caller, on: bus) { [self, weak prompt] locked in
            guard let prompt, prompt.round == round, prompt.lane == .unknown else { return }
            prompt.lane = locked.isForLogin(prompt.texts) ? .touch : .dialog
            advance()
        }
    }

    // MARK: Answers

    /// Sends an answer, which is followed by the next question or the prompt's end.
    ///
    /// - Parameters:
    ///   - prompt: The prompt.
    ///   - reply: `yes` or `no`; empty if the program may ask.
    ///   - changes: The properties that the user has changed.
    ///   - exchange: The encrypted password; `nil` after an error, which ends the prompt.
    func answer(
        _ prompt: WaitingPrompt,
        _ reply: String,
        _ changes: [String: BusContent] = [:],
        exchange: String?
    ) {
        guard prompts[prompt.id] === prompt else { return }
        prompt.lane = .none
        guard let exchange else { return remove(prompt.id, says: true) }
        // gcr reads properties from a variant within a variant.
        let changes = changes.mapValues { BusContent.variant($0) }
        let parts: [BusContent] = [.text(reply), .members(changes), .text(exchange)]
        bus.call(prompt.id.place, "PromptReady", parts, within: 30) { [self, weak prompt] outcome in
            // A program that does not take the answer has no use for the prompt.
            guard case .failure = outcome, let prompt, prompts[prompt.id] === prompt else { return }
            remove(prompt.id, says: false)
        }
    }

    /// Answers that the user has dismissed the prompt.
    func refuse(_ prompt: WaitingPrompt) { answer(prompt, "no", exchange: prompt.exchange.send(nil)) }

    /// Forgets a prompt.
    ///
    /// - Parameters:
    ///   - id: The prompt.
    ///   - says: Whether its program is called back.
    private func remove(_ id: PromptID, says: Bool) {
        guard let prompt = prompts.removeValue(forKey: id) else { return }
        prompt.watch = nil
        prompt.lane = .none
        if says { bus.call(id.place, "PromptDone", then: { _ in }) }
        dialogs.hasLeft(prompt)
        touch.hasLeft()
        advance()
        rest()
    }

    /// Gives memory back after the last prompt, or after a call that was refused.
    ///
    /// The program waits most of the time.
    func rest() {
        guard prompts.isEmpty, !isResting else { return }
        isResting = true
        let last = lastNumber
        onMainThread(after: Self.rest) { [self] in
            isResting = false
            guard prompts.isEmpty else { return }
            // Another prompt has ended since.
            if lastNumber != last { rest() } else { whorl_give_back_memory() }
        }
    }

    // MARK: Events

    func advance() {
        touch.advance()
        dialogs.advance()
    }

    private func screenChanged() {
        guard screen.hidesPrompts else { return advance() }
        touch.interrupt()
        touch.forget()
        dialogs.interrupt()
        if screen.isLocked, options.locksWithScreen { SecretService.lockLogin(on: bus) {} }
    }

    /// Shows prompts for all keyrings again.
    func endPauses() { pauses.endAll() }

    /// Ends all prompts.
    func end() {
        touch.interrupt()
        touch.forget()
        dialogs.interrupt()
        for id in prompts.keys { bus.call(id.place, "PromptDone", then: { _ in }) }
        prompts = [:]
    }
}
