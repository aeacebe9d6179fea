// SPDX-License-Identifier: Apache-2.0

package import WhorlIPC
package import WhorlService
import WhorlSupport

/// An agent, which shows the prompts of its session's programs.
package struct RemoteAgent: Sendable {
    private let client: ServiceClient

    /// Creates an agent that registers with a service over a transport.
    package init(over transport: any ServiceTransport) { client = ServiceClient(transport: transport) }

    /// The conditions under which an agent hands over its registration while no prompt is shown.
    package struct Rest: Sendable {
        let time: Duration
        let isAllowed: @Sendable () -> Bool

        /// Creates the conditions.
        ///
        /// - Parameters:
        ///   - time: The minimum time without a prompt.
        ///   - isAllowed: Returns whether nothing else requires the program to keep running.
        package init(after time: Duration, if isAllowed: @escaping @Sendable () -> Bool = { true }) {
            self.time = time
            self.isAllowed = isAllowed
        }
    }

    /// Registers with the service and shows prompts until the task is cancelled or the service exits.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts.
    ///   - onRegistration: Called once, when the registration has taken effect.
    /// - Throws: `agentTaken` if another agent is registered, `agentNotAllowed` if the service does not allow agents,
    ///   `serviceUnavailable` if it does not answer or has exited, `appCancel` if the task is cancelled.
    package func run(
        on presenter: any PromptPresenter,
        onRegistration: @escaping @Sendable () -> Void
    ) async throws(ServiceError) {
        _ = try await run(on: presenter, from: nil, rest: nil, onRegistration: onRegistration)
    }

    /// Shows prompts until the agent may hand over its registration.
    ///
    /// - Parameters:
    ///   - presenter: Shows the prompts.
    ///   - registration: The socket of an earlier registration that was handed over; `nil` to register.
    ///   - rest: The conditions under which the registration is handed over; `nil` to keep it.
    ///   - onRegistration: Called once, when the registration has taken effect; not called for an earlier
    ///     registration.
    /// - Returns: The registration's socket. The registration lasts as long as the socket is open, and the next prompt
    ///   arrives on it.
    /// - Throws: The errors of ``run(on:onRegistration:)``.
    package func run(
        on presenter: any PromptPresenter,
        from registration: Descriptor?,
        rest: Rest?,
        onRegistration: @escaping @Sendable () -> Void
    ) async throws(ServiceError) -> Descriptor {
        let relay = PromptRelay(presenter, client, confirmsEnds: true)
        var registration = registration
        do throws(ServiceCallError) {
            while true {
                let socket = try await follow(registration, relay, rest, onRegistration)
                // A prompt that arrived during the handover is shown here.
                if relay.isQuiet(for: .zero) { return socket }
                registration = socket
            }
        } catch {
            await relay.finish()
            throw ServiceError(error)
        }
    }

    /// Passes on the updates of a registration until it is handed over.
    private func follow(
        _ registration: Descriptor?,
        _ relay: PromptRelay,
        _ rest: Rest?,
        _ onRegistration: @escaping @Sendable () -> Void
    ) async throws(ServiceCallError) -> Descriptor {
        let update: @Sendable (AgentInterface.Update) -> Void = { update in
            if update.isRegistered == true { onRegistration() }
            if let shown = update.prompt { relay.show(shown.namingAsker) }
            if let change = update.change { relay.change(change.prompt, change.update) }
            if let end = update.end { relay.end(end) }
        }
        let connection =
            if let registration {
                try client.connection(over: registration)
            } else {
                try await client.provenConnection()
            }
        let resting = Task { await rest?.socket(of: connection, relay) }
        defer { resting.cancel() }
        var reason: SystemCallError?
        do throws(ServiceCallError) {
            if registration == nil {
                let abilities = await relay.abilities
                let asked = AgentInterface.Register(presenter: abilities)
                let _: CallReply = try await connection.call(
                    AgentInterface.Register.name,
                    asked,
                    update: update
                )
            } else {
                let _: CallReply = try await connection.resume(update: update)
            }
        } catch .connection(let error) {
            reason = error
            resting.cancel()
            if let socket = await resting.value { return socket }
        }
        throw .connection(reason)
    }
}

extension RemoteAgent.Rest {
    /// Hands over the socket of a connection once no prompt has been shown for the required time; returns `nil` if the
    /// task is cancelled before that.
    fileprivate func socket(of connection: ServiceConnection, _ relay: PromptRelay) async -> Descriptor? {
        while await OffPoolTimer.wait(time) {
            if relay.isQuiet(for: time), isAllowed(), let socket = connection.release() { return socket }
        }
        return nil
    }
}

extension ShownPrompt {
    /// The prompt, with the description of the requesting program as its heading if the service knows the program.
    fileprivate var namingAsker: ShownPrompt {
        guard let asker = prompt.asker else { return self }
        let named = Prompt(
            title: asker.spoken(prompt.title),
            reason: prompt.reason,
            purpose: prompt.purpose,
            limits: prompt.limits,
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
