// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
package import WhorlService

/// A program that shows the prompts of its session's programs.
package struct RemoteAgent: Sendable {
    private let client: ServiceClient

    /// Makes an agent of a service.
    package init(over transport: any ServiceTransport) { client = ServiceClient(transport: transport) }

    /// Registers with the service, and shows prompts until the task is cancelled or the service leaves.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts.
    ///   - onRegistration: Called once, when prompts are shown from then on.
    /// - Throws: `taken` while another agent is registered, `notAllowed`, `unanswered` where the service does not answer
    ///   or has left, `cancelled`.
    package func run(
        on presenter: any PromptPresenter,
        onRegistration: @escaping @Sendable () -> Void
    ) async throws(AgentError) {
        let relay = PromptRelay(presenter, client)
        let answer: Result<CallReply<AgentInterface.Update>, AgentError>
        do throws(AgentError) {
            answer = .success(
                try await client.call(
                    AgentInterface.register,
                    .init(presenter: await PresenterAbilities(of: presenter)),
                    failing: AgentError.self,
                    update: { update in
                        if update.isRegistered == true { onRegistration() }
                        if let shown = update.prompt { relay.show(shown.namingAsker) }
                        if let change = update.change { relay.change(change.prompt, change.update) }
                        if let end = update.end { relay.end(end) }
                    }
                )
            )
        } catch {
            answer = .failure(error)
        }
        await relay.finish()
        _ = try answer.get()
        throw AgentError(.unanswered)
    }
}

extension ShownPrompt {
    /// The prompt with the words for who asks as its heading, where the service knows them.
    fileprivate var namingAsker: ShownPrompt {
        guard let asker = prompt.asker else { return self }
        let named = Prompt(
            title: asker.spoken(prompt.title),
            reason: prompt.reason,
            cancelTitle: prompt.cancelTitle,
            fallbackTitle: prompt.fallbackTitle,
            readerKind: prompt.readerKind,
            scanType: prompt.scanType,
            parts: prompt.parts,
            asker: asker
        )
        return ShownPrompt(id: id, prompt: named)
    }
}

extension AgentError: RemoteFailure {
    static var name: String { "io.whorl.Agent.Failed" }

    init(unanswered error: ServiceCallError) {
        self.init(error == .cancelled ? .cancelled : .unanswered)
    }
}
