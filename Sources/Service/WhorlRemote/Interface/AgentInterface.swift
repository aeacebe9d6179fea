// SPDX-License-Identifier: Apache-2.0

import WhorlService

/// The interface of programs that show the prompts of others (``AgentPolicy``).
///
/// An agent answers its prompts as a caller does, by ``PromptInterface``. Nothing that it says makes an evaluation
/// succeed.
enum AgentInterface {
    struct Registering: Codable, Sendable { let presenter: PresenterAbilities }

    /// An update of a registration; one member is set.
    struct Update: Codable, Sendable {
        /// The agent shows the prompts from now on.
        var isRegistered: Bool?
        /// A prompt begins.
        var prompt: ShownPrompt?
        /// A prompt that is shown changes.
        var change: Change?
        /// The prompt with this id ends; the agent confirms it with `io.whorl.Prompt.Ended`.
        var end: String?
    }

    /// A change of one prompt; an agent may show several.
    struct Change: Codable, Sendable {
        let prompt: String
        let update: PromptUpdate
    }

    /// Registers the caller until it hangs up; there is no reply before.
    static let register = ServiceMethod<Registering, Update>("io.whorl.Agent.Register")
}
