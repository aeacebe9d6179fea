// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService

/// The agents that are registered, at most one for each session of a user.
final class AgentBoard: Sendable {
    /// A session of a user; `nil` stands for all of a user's programs that belong to no session.
    struct Place: Hashable, Sendable {
        let uid: UInt32
        let session: String?
    }

    private let agents = Mutex<[Place: RegisteredAgent]>([:])

    /// Adds an agent; `false` where the session has one already, which stays: a program that comes later cannot take
    /// the prompts of the one that the person knows.
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

/// A program that shows the prompts of a session, for as long as its registration's connection lasts.
final class RegisteredAgent: PromptScreen {
    private struct State {
        var abilities: PresenterAbilities
        var shown: [String: WirePrompt] = [:]
        /// The prompts that the agent shows and was not told to take away.
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
            // Sent under the lock: nothing about a prompt comes before it, or after its end.
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

    /// Tells the agent that it shows the prompts from now on.
    func welcome() { call.update(AgentInterface.Update(isRegistered: true)) }

    /// Ends what the agent shows, since it has hung up.
    func hangUp() {
        let shown = state.withLock { state in
            state.isGone = true
            defer { state.shown = [:] }
            return state.shown.values
        }
        for prompt in shown { prompt.end(nil) }
    }
}

/// The programs that show the prompts of calls.
package enum AgentPolicy: String, Sendable, Hashable, CaseIterable {
    /// The agent of the caller's session alone; without one, no prompt is shown.
    case required = "required"
    /// The agent of the caller's session where there is one, else the caller.
    case preferred = "preferred"
    /// The caller; no agent may register.
    case never = "never"
}

/// The rules by which a service asks people.
package struct PromptRules: Sendable {
    /// The programs that show prompts.
    package var agents = AgentPolicy.preferred
    /// The longest time limit that a caller's request has.
    package var longestTimeout = Duration.seconds(86_400)

    package init() {}
}
