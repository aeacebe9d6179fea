// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService
import WhorlSupport

extension ServiceHost {
    func addAgents(_ router: inout Router) {
        router.on(AgentInterface.register) { (asked, call) async throws(ServiceRefusal) in
            // Refuses users whom this service does not serve.
            _ = try services(call.client.user)
            try refuseConfined(call)
            guard call.wantsMore else { throw .invalidParameter("more") }
            guard promptRules.agents != .never else { throw AgentError(.notAllowed).refusal }
            let agent = RegisteredAgent(asked.presenter, call)
            let place = place(of: call, in: await rules.caller(call.client).asker?.session)
            guard agents.add(agent, at: place) else { throw AgentError(.taken).refusal }
            defer {
                agents.remove(agent, at: place)
                agent.hangUp()
            }
            agent.welcome()
            // The connection is the registration: hanging up cancels this task.
            _ = await OffPoolTimer.wait(.seconds(1 << 32))
            return AgentInterface.Update()
        }
    }

    private func place(of call: ServiceCall, in session: String?) -> AgentBoard.Place {
        AgentBoard.Place(uid: call.client.user.uid, session: session)
    }

    /// Chooses the screen for the prompts of a call.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - session: The session of the program that asks; `nil` for none.
    ///   - caller: The caller's own screen.
    ///   - hasPasscode: Whether the caller hands in a passcode that it has, and shows nothing for it.
    /// - Returns: The screen; `nil` where there has to be an agent and none is registered.
    func screen(
        for call: ServiceCall,
        in session: String?,
        else caller: any PromptScreen,
        hasPasscode: Bool
    ) -> (any PromptScreen)? {
        switch promptRules.agents {
        case .never: caller
        case .preferred where hasPasscode: caller
        case .preferred: agents.agent(at: place(of: call, in: session)) ?? caller
        case .required: agents.agent(at: place(of: call, in: session))
        }
    }
}
