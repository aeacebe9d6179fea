// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService
import WhorlSupport

extension ServiceHost {
    /// Returns the reason why a caller does not receive a result if the screen of its session was locked in the
    /// meantime.
    ///
    /// Calls end as soon as the login manager's signal for a lock arrives; this check covers a signal that is late. If
    /// the login manager does not respond, the session counts as locked.
    func lateLock(of session: String?, _ call: ServiceCall) async -> ServiceError? {
        guard let session else { return nil }
        let now = await rules.caller(call.client)
        guard now.asker?.session == session else { return .sessionLocked }
        return now.obstacle
    }

    func addPrompts(_ router: inout GuardedRouter) {
        router.on(PromptInterface.Submit.self) { (asked, call) async throws(ServiceRefusal) in
            Valued(prompt(asked.prompt, call)?.entry.submit(asked.passcode) ?? false)
        }
        router.on(PromptInterface.Typing.self) { (asked, call) async throws(ServiceRefusal) in
            Valued(prompt(asked.prompt, call)?.typing(within: promptRules.longestTimeout) ?? false)
        }
        router.on(PromptInterface.Close.self) { (asked, call) async throws(ServiceRefusal) in
            answer(asked.prompt, call) { $0.entry.close() }
        }
        router.on(PromptInterface.Ended.self) { (ending, call) async throws(ServiceRefusal) in
            answer(ending.prompt, call) { $0.end(ending) }
        }
    }

    private func prompt(_ id: String, _ call: ServiceCall) -> WirePrompt? {
        prompts.prompt(id, of: call.client.user)
    }

    /// Passes a report to a prompt; returns `false` for a prompt that is unknown or has ended.
    private func answer(_ id: String, _ call: ServiceCall, _ body: (WirePrompt) -> Void) -> Valued<Bool> {
        guard let prompt = prompt(id, call) else { return Valued(false) }
        body(prompt)
        return Valued(true)
    }
}

extension ServiceHost {
    func addAgents(_ router: inout GuardedRouter) {
        router.on(AgentInterface.Register.self) { (asked, call) async throws(ServiceRefusal) in
            // Refuses users that this service does not serve.
            _ = try services(call.client.user)
            guard call.wantsMore else { throw .invalidParameter("more") }
            guard promptRules.agents != .never else { throw ServiceError(.agentNotAllowed).refusal }
            let agent = RegisteredAgent(asked.presenter, call)
            let place = place(of: call, in: await rules.caller(call.client).asker?.session)
            guard agents.add(agent, at: place) else { throw ServiceError(.agentTaken).refusal }
            defer {
                agents.remove(agent, at: place)
                agent.hangUp()
            }
            agent.welcome()
            // The connection is the registration: if the agent hangs up, this task is cancelled.
            _ = await OffPoolTimer.wait(.seconds(1 << 32))
            return AgentInterface.Update()
        }
    }

    private func place(of call: ServiceCall, in session: String?) -> AgentBoard.Place {
        AgentBoard.Place(uid: call.client.user.uid, session: session)
    }

    /// Returns the screen for the prompts of a call.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - session: The session of the requesting program; `nil` if it runs outside any session.
    ///   - caller: The caller's own screen.
    /// - Returns: The screen; `nil` if an agent is required and none is registered.
    func screen(
        for call: ServiceCall,
        in session: String?,
        else caller: any PromptScreen
    ) -> (any PromptScreen)? {
        switch promptRules.agents {
        case .never: caller
        case .preferred: agents.agent(at: place(of: call, in: session)) ?? caller
        case .required: agents.agent(at: place(of: call, in: session))
        }
    }
}
