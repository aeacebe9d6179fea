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

    func begin(_ prompt: WirePrompt, _ content: ShownPrompt) {
        let isGone = state.withLock { state in
            if !state.isGone { state.shown[prompt.id] = prompt }
            return state.isGone
        }
        guard !isGone else { return prompt.end(nil) }
        call.update(AgentInterface.Update(prompt: content))
    }

    func change(_ prompt: WirePrompt, _ update: PromptUpdate) {
        call.update(AgentInterface.Update(change: .init(prompt: prompt.id, update: update)))
    }

    func end(_ prompt: WirePrompt) { call.update(AgentInterface.Update(end: prompt.id)) }

    func ended(_ prompt: WirePrompt, _ ending: PromptInterface.Ending?) {
        state.withLock { state in
            state.shown[prompt.id] = nil
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
