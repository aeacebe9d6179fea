// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Synchronization
import WhorlIPC
import WhorlService

/// Shows the prompts of one call on the caller's presenter, and sends what the person does to the service.
final class RemotePrompts<Reply: Codable & Sendable>: Sendable {
    private struct State {
        var entry: PromptEntry?
        /// The task of the newest prompt, which begins when the one before has ended.
        var showing: Task<Void, Never>?
        /// Whether updates of the service are being passed on, which are no action of the person.
        var isPassing = false
        var lastTyping: ContinuousClock.Instant?
    }

    private let presenter: any PromptPresenter
    private let client: ServiceClient
    private let onProgress: @Sendable (EnrollmentProgress) -> Void
    private let state = Mutex(State())

    init(
        _ presenter: any PromptPresenter,
        _ client: ServiceClient,
        onProgress: @escaping @Sendable (EnrollmentProgress) -> Void = { _ in }
    ) {
        self.presenter = presenter
        self.client = client
        self.onProgress = onProgress
    }

    /// The presenter's abilities now.
    static func abilities(of presenter: any PromptPresenter) async -> PresenterAbilities {
        PresenterAbilities(
            isInteractive: await presenter.isInteractive,
            takesPasscode: await presenter.takesPasscode
        )
    }

    /// Takes an update of the call.
    func take(_ update: Prompted<Reply>) {
        if let shown = update.prompt { show(shown) }
        if let change = update.update { pass { $0.send(change) } }
        if update.end != nil { pass { $0.end() } }
        if let progress = update.progress { onProgress(progress) }
    }

    /// Ends the prompt that is shown, and waits until the presenter has let it go.
    func finish() async {
        pass { $0.end() }
        await state.withLock(\.showing)?.value
    }

    private func pass(_ body: (PromptEntry) -> Void) {
        let entry = state.withLock { state in
            state.isPassing = true
            return state.entry
        }
        if let entry { body(entry) }
        state.withLock { $0.isPassing = false }
    }

    private func show(_ shown: ShownPrompt) {
        let entry = PromptEntry(shown.prompt.parts) { [weak self] in self?.didType(shown.id) }
        state.withLock { state in
            state.entry = entry
            let before = state.showing
            state.showing = Task {
                await before?.value
                await self.show(shown, entry)
            }
        }
    }

    private func show(_ shown: ShownPrompt, _ entry: PromptEntry) async {
        let passcodes = Task { await self.sendPasscodes(of: entry, to: shown.id) }
        let action = await presenter.show(shown.prompt, entry)
        entry.close()
        await passcodes.value
        let ending = PromptInterface.Ending(
            prompt: shown.id,
            action: action,
            presenter: await Self.abilities(of: presenter)
        )
        // A prompt that the service no longer knows has ended there.
        _ = try? await client.call(PromptInterface.ended, ending, failing: StateError.self)
    }

    private func sendPasscodes(of entry: PromptEntry, to prompt: String) async {
        await entry.each { box async in
            var attachments = Attachments()
            // A passcode that does not arrive is not compared; the prompt's time limit ends it.
            guard let place = try? attachments.add(box) as Int else { return false }
            _ = try? await client.call(
                PromptInterface.submit,
                PromptInterface.Passcode(prompt: prompt, passcode: place),
                attachments,
                failing: StateError.self
            )
            return false
        }
        // As above.
        _ = try? await client.call(PromptInterface.close, .init(prompt: prompt), failing: StateError.self)
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
            _ = try? await client.call(
                PromptInterface.typing,
                .init(prompt: prompt),
                failing: StateError.self
            )
        }
    }
}

extension ServiceClient {
    /// Calls a method during which the owner may be asked on a presenter.
    func callPrompting<Call, Reply, Failure: RemoteFailure>(
        _ method: ServiceMethod<Prompting<Call>, Prompted<Reply>>,
        _ call: Call,
        _ attachments: Attachments = Attachments(),
        presenter: any PromptPresenter,
        failing: Failure.Type,
        onProgress: @escaping @Sendable (EnrollmentProgress) -> Void = { _ in }
    ) async throws(Failure) -> CallReply<Reply> {
        let prompts = RemotePrompts<Reply>(presenter, self, onProgress: onProgress)
        let parameters = Prompting(call: call, presenter: await RemotePrompts<Reply>.abilities(of: presenter))
        let answer: Result<CallReply<Prompted<Reply>>, Failure>
        do throws(Failure) {
            answer = .success(
                try await self.call(
                    method,
                    parameters,
                    attachments,
                    failing: Failure.self,
                    update: { prompts.take($0) }
                )
            )
        } catch {
            answer = .failure(error)
        }
        await prompts.finish()
        let reply = try answer.get()
        guard let value = reply.parameters.value else { throw Failure(unanswered: .malformed) }
        return CallReply(parameters: value, descriptors: reply.descriptors)
    }
}
