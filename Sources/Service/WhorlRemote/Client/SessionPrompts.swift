// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
public import WhorlService

/// The prompts of a login session's programs and enrollments, for a program of its desktop that shows them.
public enum SessionPrompts {
    /// The reason for which no prompt is shown, or is shown no longer.
    public enum Fault: Error, Sendable, Hashable {
        /// Another agent is registered for the session.
        case taken
        /// This program may not show prompts.
        case notAllowed
        /// The service does not answer, or has left.
        case unanswered
        /// The task was cancelled.
        case cancelled
    }

    /// Registers with the system's service, and shows prompts until the task is cancelled or the service leaves.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts; nothing that it says makes an evaluation succeed.
    ///   - onRegistration: Called once, when prompts are shown from then on.
    /// - Throws: the fault that ended it; `unanswered` when the service left.
    public static func show(
        on presenter: any PromptPresenter,
        onRegistration: @escaping @Sendable () -> Void
    ) async throws(Fault) {
        do throws(AgentError) {
            try await RemoteAgent(over: PathTransport()).run(on: presenter, onRegistration: onRegistration)
        } catch {
            switch error.code {
            case .taken: throw .taken
            case .notAllowed: throw .notAllowed
            case .unanswered: throw .unanswered
            case .cancelled: throw .cancelled
            }
        }
    }

    /// Enrolls a finger with the system's service, for a program of the desktop that shows how it goes.
    ///
    /// - Parameters:
    ///   - finger: The finger's name, and its owner's words for it.
    ///   - application: The program that asks.
    ///   - presenter: Shows the prompt for the owner's consent, unless an agent of the session does.
    ///   - observer: Called for each event of the enrollment, on a thread of this library.
    /// - Returns: The finger as it was stored.
    /// - Throws: as `FingerService.enroll`. Nothing is stored by an enrollment that is cancelled.
    public static func enroll(
        _ finger: NewFinger,
        for application: ApplicationID,
        presenter: any PromptPresenter,
        observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(FingerChangeError) -> EnrolledFinger {
        let fingers = RemoteFingers(client: ServiceClient(transport: PathTransport()))
        let request = ConsentRequest(application: application)
        return try await fingers.enroll(finger, request, presenter: presenter, observer: observer)
    }
}

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
        let answer = await Result { () async throws(AgentError) in
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
