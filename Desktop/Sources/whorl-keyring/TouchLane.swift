// SPDX-License-Identifier: Apache-2.0

import MainThread
import WhorlSecretMemory
import WhorlService
import WhorlSupport

/// The prompts that the service's password answers.
///
/// One touch answers all of them. The password goes only to the keyring's daemon, and only once to each prompt: if it is
/// wrong, or the prompt was not for the login keyring, the next question is shown in a dialog.
@MainActor
final class TouchLane {
    /// The name of the login keyring among the pauses.
    static let keyring = "login"
    /// The time in milliseconds for which a released password is kept for prompts that had begun before.
    private static let keeping: UInt32 = 2_000
    /// The time in milliseconds before a prompt that the system has ended is shown again.
    private static let rest: UInt32 = 2_000

    /// A released password, and the number of the last prompt that it may answer.
    private struct Released {
        let password: SecretBox
        let last: Int
    }

    private let prompter: Prompter
    private let bus: Bus
    private var request: PasswordRequest?
    /// The number of requests so far.
    private var round = 0
    private var released: Released?
    /// Whether the lane waits before it asks again.
    private var rests = false

    init(_ prompter: Prompter, _ bus: Bus) {
        self.prompter = prompter
        self.bus = bus
    }

    private var prompts: [WaitingPrompt] { prompter.waiting(in: .touch) }

    /// Asks the service if a prompt waits and nothing is in its way.
    func advance() {
        if prompter.pauses.contains(Self.keyring) { refuseAll() }
        if let released {
            for prompt in prompts where prompt.lane == .touch && prompt.number <= released.last {
                offer(released.password, to: prompt)
            }
        }
        guard request == nil, !rests, !prompter.screen.hidesPrompts, !prompts.isEmpty else { return }
        round += 1
        let round = round
        request = PasswordRequest { [weak self] outcome in
            // A request that was ended still reports a result, which is no longer of interest.
            guard let self, request != nil, self.round == round else { return }
            request = nil
            end(outcome)
        }
    }

    /// Ends the request if no prompt waits for it any longer.
    func hasLeft() { if prompts.isEmpty { interrupt() } }

    /// Ends the request; its prompts keep waiting.
    func interrupt() {
        request?.cancel()
        request = nil
    }

    /// Wipes a released password.
    func forget() { released = nil }

    private func refuseAll() { for prompt in prompts where prompt.lane == .touch { prompter.refuse(prompt) } }

    private func end(_ outcome: Result<SecretBox, ServiceError>) {
        switch outcome {
        case .success(let password): release(password)
        case .failure(let error): end(error)
        }
    }

    private func release(_ password: SecretBox) {
        released = Released(password: password, last: prompter.lastNumber)
        let round = round
        onMainThread(after: Self.keeping) { [weak self] in
            // A later request has its own time.
            if let self, self.round == round || request != nil { forget() }
        }
        prompter.advance()
    }

    private func offer(_ password: SecretBox, to prompt: WaitingPrompt) {
        prompt.wasOffered = true
        // The program may have given up the daemon's name since it asked.
        guard DaemonCheck.passes(prompt.id.caller, on: bus) else { return prompter.refuse(prompt) }
        prompter.answer(prompt, "yes", exchange: prompt.exchange.send(password))
    }

    private func end(_ error: ServiceError) {
        switch error.code {
        case .userCancel:
            prompter.pauses.begin(for: Self.keyring)
            refuseAll()
            prompter.advance()
        // The screen was locked, another user's session came to the front, or nobody was there.
        case .systemCancel, .timedOut, .readerInUse, .changedMeanwhile:
            rests = true
            onMainThread(after: Self.rest) { [weak self] in
                self?.rests = false
                self?.advance()
            }
        default:
            Program.write("The keyring's password is not available: \(error.code.rawValue)")
            for prompt in prompts {
                prompt.note = error.code == .noSuchItem ? "" : translated(error.message)
                prompt.lane = .dialog
            }
            prompter.advance()
        }
    }
}
