// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Synchronization
import WhorlIPC
import WhorlService
import WhorlSupport

/// The presenter of a caller in another process.
///
/// It passes updates on, and what the caller says about the person's acts. Nothing that the caller says makes an
/// evaluation succeed: passcodes are compared by the engine, and a button ends the prompt.
final class WirePresenter<Reply: Codable & Sendable>: PromptPresenter {
    /// The time that a caller has to confirm the end of a prompt.
    private static var patience: Duration { .seconds(2) }

    private struct State {
        var abilities: PresenterAbilities
        var prompt: WirePrompt?
        var hasHungUp = false
    }

    private let call: ServiceCall
    private let board: PromptBoard
    private let state: Mutex<State>

    init(_ abilities: PresenterAbilities, _ call: ServiceCall, _ board: PromptBoard) {
        self.call = call
        self.board = board
        state = Mutex(State(abilities: abilities))
    }

    /// Whether a person can see the prompt, by the caller's word; a caller that takes no updates shows none.
    var isInteractive: Bool {
        get async { call.wantsMore && state.withLock(\.abilities.isInteractive) }
    }

    var takesPasscode: Bool {
        get async { call.wantsMore && state.withLock(\.abilities.takesPasscode) }
    }

    func show(_ prompt: Prompt, _ entry: PromptEntry) async -> PromptAction? {
        let shown = WirePrompt(entry)
        let hasHungUp = state.withLock { state in
            state.prompt = shown
            return state.hasHungUp
        }
        guard !hasHungUp else { return nil }
        board.add(shown, of: call.client.user)
        defer { board.remove(shown) }
        call.update(Prompted<Reply>(prompt: ShownPrompt(id: shown.id, prompt: prompt)))
        let forwarding = Task { [call] in
            for await update in entry.updates { call.update(Prompted<Reply>(update: update)) }
            Self.end(shown, call)
        }
        // The engine cancels this task when the prompt has to go before its updates end.
        let ending = await withTaskCancellationHandler {
            await shown.waitForEnding()
        } onCancel: {
            Self.end(shown, call)
        }
        forwarding.cancel()
        guard let ending else { return nil }
        state.withLock { $0.abilities = ending.presenter }
        return ending.action
    }

    /// Tells the caller that the prompt ends, and waits for its word no longer than ``patience``.
    private static func end(_ shown: WirePrompt, _ call: ServiceCall) {
        call.update(Prompted<Reply>(end: shown.id))
        OffPoolTimer.run(after: patience) { shown.end(nil) }
    }

    /// Reports that the caller is gone, so that nothing waits for its word.
    func hangUp() {
        let prompt = state.withLock { state in
            state.hasHungUp = true
            return state.prompt
        }
        prompt?.end(nil)
    }

    /// Reports how an enrollment goes on.
    func report(_ progress: EnrollmentProgress) { call.update(Prompted<Reply>(progress: progress)) }
}

extension ServiceHost {
    /// Adds a method during which the owner may be asked.
    func prompting<Call, Reply>(
        _ router: inout Router,
        _ method: ServiceMethod<Prompting<Call>, Prompted<Reply>>,
        _ body:
            @escaping @Sendable (Call, Services, ServiceCall, WirePresenter<Reply>)
            async throws(ServiceRefusal) -> (Reply, Attachments)
    ) where Call: CallForOwner {
        router.on(method.name) {
            (parameters: Prompting<Call>, call) async throws(ServiceRefusal) -> ServiceReply<Prompted<Reply>>
            in
            let services = try services(call.client.user)
            let caller = await rules.caller(call.client)
            let asked = parameters.call.asked(by: caller)
            let presenter = WirePresenter<Reply>(parameters.presenter, call, prompts)
            let answer: Result<(Reply, Attachments), ServiceRefusal> = await withTaskCancellationHandler {
                do throws(ServiceRefusal) {
                    return .success(try await body(asked, services, call, presenter))
                } catch {
                    return .failure(error)
                }
            } onCancel: {
                presenter.hangUp()
            }
            rules.record(CallRecord(method.name, asked.purpose, answer), of: caller)
            let (value, attachments) = try answer.get()
            return ServiceReply(Prompted(value: value), descriptors: attachments.descriptors)
        }
    }

    func addPrompts(_ router: inout Router) {
        router.on(PromptInterface.submit) { (asked, call) async throws(ServiceRefusal) in
            let passcode = try call.secretBox(at: asked.passcode)
            return Valued(prompt(asked.prompt, call)?.entry.submit(passcode) ?? false)
        }
        router.on(PromptInterface.typing) { (asked, call) async throws(ServiceRefusal) in
            answer(asked.prompt, call) { $0.entry.typing() }
        }
        router.on(PromptInterface.close) { (asked, call) async throws(ServiceRefusal) in
            answer(asked.prompt, call) { $0.entry.close() }
        }
        router.on(PromptInterface.ended) { (ending, call) async throws(ServiceRefusal) in
            answer(ending.prompt, call) { $0.end(ending) }
        }
    }

    private func prompt(_ id: String, _ call: ServiceCall) -> WirePrompt? {
        prompts.prompt(id, of: call.client.user)
    }

    /// Does what the caller says to its prompt; the answer is `false` for one that is unknown or has ended.
    private func answer(_ id: String, _ call: ServiceCall, _ body: (WirePrompt) -> Void) -> Valued<Bool> {
        guard let prompt = prompt(id, call) else { return Valued(false) }
        body(prompt)
        return Valued(true)
    }
}

extension ServiceCall {
    /// The secret at a place beside the call, in a box.
    func secretBox(at place: Int) throws(ServiceRefusal) -> SecretBox { SecretBox(try secret(at: place)) }

    /// The secret at a place beside the call, if one is named.
    func secretBox(at place: Int?) throws(ServiceRefusal) -> SecretBox? {
        guard let place else { return nil }
        return SecretBox(try secret(at: place))
    }
}
