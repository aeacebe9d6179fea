// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService

/// Shows the prompts of one call on the caller's presenter.
final class RemotePrompts<Reply: Codable & Sendable>: Sendable {
    private let relay: PromptRelay
    private let onProgress: @Sendable (EnrollmentProgress) -> Void
    /// The newest prompt, which the updates of a call are about.
    private let newest = Mutex("")

    init(
        _ presenter: any PromptPresenter,
        _ client: ServiceClient,
        onProgress: @escaping @Sendable (EnrollmentProgress) -> Void = { _ in }
    ) {
        relay = PromptRelay(presenter, client)
        self.onProgress = onProgress
    }

    /// Takes an update of the call.
    func take(_ update: Prompted<Reply>) {
        if let shown = update.prompt {
            newest.withLock { $0 = shown.id }
            relay.show(shown)
        }
        if let change = update.update { relay.change(newest.withLock(\.self), change) }
        if let end = update.end { relay.end(end) }
        if let progress = update.progress { onProgress(progress) }
    }

    /// Ends the prompt that is shown, and waits until the presenter has let it go.
    func finish() async { await relay.finish() }
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
        let parameters = Prompting(call: call, presenter: await PresenterAbilities(of: presenter))
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
