// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService

/// The registered agents; each session of a user has at most one.
final class AgentBoard: Sendable {
    /// A session of a user.
    ///
    /// If the session is `nil`, it stands for all of the user's programs outside any session.
    struct Place: Hashable, Sendable {
        let uid: UInt32
        let session: String?
    }

    private let agents = Mutex<[Place: RegisteredAgent]>([:])

    /// Adds an agent; returns `false` if the session already has one.
    ///
    /// The first agent stays registered, so that another program cannot take over the prompts of the agent that the
    /// user knows.
    func add(_ agent: RegisteredAgent, at place: Place) -> Bool {
        agents.withLock { agents in
            guard agents[place] == nil else { return false }
            agents[place] = agent
            return true
        }
    }

    func remove(_ agent: RegisteredAgent, at place: Place) {
        agents.withLock { agents in
            if agents[place] === agent { agents[place] = nil }
        }
    }

    /// Returns the agent of a session.
    func agent(at place: Place) -> RegisteredAgent? { agents.withLock { $0[place] } }
}

/// A program that shows a session's prompts while the connection of its registration is open.
final class RegisteredAgent: PromptScreen {
    private struct State {
        var abilities: PresenterAbilities
        var shown: [String: WirePrompt] = [:]
        /// The IDs of the prompts that the agent shows and has not been told to dismiss.
        var open: Set<String> = []
        var isGone = false
    }

    private let call: ServiceCall
    private let state: Mutex<State>

    init(_ abilities: PresenterAbilities, _ call: ServiceCall) {
        self.call = call
        state = Mutex(State(abilities: abilities))
    }

    var answerer: PeerUser { call.client.user }
    var abilities: PresenterAbilities { state.withLock(\.abilities) }
    var isGone: Bool { state.withLock(\.isGone) }
    var isOfAgent: Bool { true }

    func begin(_ prompt: WirePrompt, _ content: ShownPrompt) {
        let isGone = state.withLock { state in
            guard !state.isGone else { return true }
            state.shown[prompt.id] = prompt
            state.open.insert(prompt.id)
            // Sent under the lock, so that nothing about a prompt arrives before its beginning or after its end.
            call.update(AgentInterface.Update(prompt: content))
            return false
        }
        if isGone { prompt.end(nil) }
    }

    func change(_ prompt: WirePrompt, _ update: PromptUpdate) {
        state.withLock { state in
            guard state.open.contains(prompt.id) else { return }
            call.update(AgentInterface.Update(change: .init(prompt: prompt.id, update: update)))
        }
    }

    func end(_ prompt: WirePrompt) {
        state.withLock { state in
            guard state.open.remove(prompt.id) != nil else { return }
            call.update(AgentInterface.Update(end: prompt.id))
        }
    }

    func ended(_ prompt: WirePrompt, _ ending: PromptInterface.Ended?) {
        state.withLock { state in
            state.shown[prompt.id] = nil
            state.open.remove(prompt.id)
            if let ending { state.abilities = ending.presenter }
        }
    }

    /// Notifies the agent that it is registered and will receive prompts.
    func welcome() { call.update(AgentInterface.Update(isRegistered: true)) }

    /// Ends the agent's prompts, because it has closed its connection.
    func hangUp() {
        let shown = state.withLock { state in
            state.isGone = true
            defer { state.shown = [:] }
            return state.shown.values
        }
        for prompt in shown { prompt.end(nil) }
    }
}

/// The programs that may show the prompts for calls.
package enum AgentPolicy: String, Sendable, Hashable, CaseIterable {
    /// Only the agent of the caller's session. If there is none, prompts are not shown.
    case required = "required"
    /// The agent of the caller's session if there is one, otherwise the caller.
    case preferred = "preferred"
    /// Only the caller itself; agents cannot register.
    case never = "never"
}

/// A service's rules for prompts.
package struct PromptRules: Sendable {
    /// The programs that show prompts.
    package var agents = AgentPolicy.preferred
    /// The maximum time limit of a caller's request.
    package var longestTimeout = Duration.seconds(86_400)

    package init() {}
}
