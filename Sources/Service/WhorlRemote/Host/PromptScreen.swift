// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService

/// A place where a prompt is shown: at the program that asks, or at an agent.
protocol PromptScreen: AnyObject, Sendable {
    /// The process whose answers count, with its user.
    var answerer: PeerUser { get }
    /// The abilities as they were last told.
    var abilities: PresenterAbilities { get }
    /// Whether nothing is shown there any longer.
    var isGone: Bool { get }

    /// Shows a prompt.
    func begin(_ prompt: WirePrompt, _ content: ShownPrompt)
    /// Shows a change of a prompt.
    func change(_ prompt: WirePrompt, _ update: PromptUpdate)
    /// Takes a prompt away.
    func end(_ prompt: WirePrompt)
    /// Takes the word that a prompt is no longer shown.
    func ended(_ prompt: WirePrompt, _ ending: PromptInterface.Ending?)
}

/// The program that asks, which shows its prompts itself.
final class CallerScreen<Reply: Codable & Sendable>: PromptScreen {
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

    func begin(_ prompt: WirePrompt, _ content: ShownPrompt) { call.update(Prompted<Reply>(prompt: content)) }
    func change(_ prompt: WirePrompt, _ update: PromptUpdate) { call.update(Prompted<Reply>(update: update)) }
    func end(_ prompt: WirePrompt) { call.update(Prompted<Reply>(end: prompt.id)) }

    func ended(_ prompt: WirePrompt, _ ending: PromptInterface.Ending?) {
        guard let ending else { return }
        state.withLock { $0 = ending.presenter }
    }
}

extension PresenterAbilities {
    /// The abilities where no prompt can be shown.
    static let none = PresenterAbilities(isInteractive: false, takesPasscode: false)
}
