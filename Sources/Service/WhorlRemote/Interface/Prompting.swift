// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlSecretMemory
import WhorlService

/// The current abilities of the presenter at the caller's side.
struct PresenterAbilities: Codable, Sendable, Equatable {
    var isInteractive: Bool
    var takesPasscode: Bool
    /// Whether the presenter supplies a passcode that it already has, so that no other program has to prompt for it.
    var hasPasscode: Bool?
}

/// A call that may prompt the owner.
struct Prompting<Call: Codable & Sendable>: Codable, Sendable {
    let call: Call
    let presenter: PresenterAbilities
}

/// An update or the reply of a call that may prompt the owner; exactly one member is set.
struct Prompted<Reply: Codable & Sendable>: Codable, Sendable {
    /// A prompt begins.
    var prompt: ShownPrompt?
    /// A prompt begins that is shown by an agent.
    var elsewhere: Bool?
    /// The current prompt changes.
    var update: PromptUpdate?
    /// The prompt with this ID ends; the caller confirms it with `io.whorl.Prompt.Ended`.
    var end: String?
    /// The progress of an enrollment.
    var progress: EnrollmentProgress?
    /// The call has ended with this value.
    var value: Reply?
}

/// A prompt with the ID by which it is answered.
struct ShownPrompt: Codable, Sendable {
    /// 128 random bits, in hexadecimal; only the program that shows the prompt receives them.
    let id: String
    let prompt: Prompt
}

/// The interface with which the program that shows a prompt answers it, on a connection other than the one it came by.
///
/// Nothing here makes an evaluation succeed: a passcode is compared by the service, and a button ends the prompt.
enum PromptInterface {
    /// Submits a passcode; the reply is whether it will be compared.
    struct Submit: ServiceOperation {
        typealias Reply = Valued<Bool>
        static let name = "io.whorl.Prompt.Submit"
        static let rules = OperationRules(
            .once,
            by: .anyProgram,
            attaching: .passcodes(1),
            isAboutProcess: false
        )

        let prompt: String
        let passcode: SecretBox
    }

    /// Reports that the user is typing.
    struct Typing: ServiceOperation {
        typealias Reply = Valued<Bool>
        static let name = "io.whorl.Prompt.Typing"
        static let rules = OperationRules(.repeatable, by: .anyProgram, isAboutProcess: false)

        let prompt: String
    }

    /// Reports that no further passcode will come.
    struct Close: ServiceOperation {
        typealias Reply = Valued<Bool>
        static let name = "io.whorl.Prompt.Close"
        static let rules = OperationRules(.repeatable, by: .anyProgram, isAboutProcess: false)

        let prompt: String
    }

    /// Reports that the prompt is no longer shown, and the button that was pressed.
    struct Ended: ServiceOperation {
        typealias Reply = Valued<Bool>
        static let name = "io.whorl.Prompt.Ended"
        static let rules = OperationRules(.repeatable, by: .anyProgram, isAboutProcess: false)

        let prompt: String
        let action: PromptAction?
        let presenter: PresenterAbilities
    }
}

/// The interface of programs that show the prompts of others (``AgentPolicy``).
///
/// An agent answers its prompts as a caller does, with ``PromptInterface``. Nothing that it reports makes an evaluation
/// succeed.
enum AgentInterface {
    /// Registers the caller until it hangs up; there is no earlier reply.
    struct Register: ServiceOperation {
        typealias Reply = AgentInterface.Update
        static let name = "io.whorl.Agent.Register"
        static let rules = OperationRules(.once, by: .unconfined)

        let presenter: PresenterAbilities
    }

    /// An update of a registration; exactly one member is set.
    struct Update: Codable, Sendable {
        /// The agent shows the prompts from now on.
        var isRegistered: Bool?
        /// A prompt begins.
        var prompt: ShownPrompt?
        /// A current prompt changes.
        var change: Change?
        /// The prompt with this ID ends; the agent confirms it with `io.whorl.Prompt.Ended`.
        var end: String?
    }

    /// A change of one prompt; an agent may show several.
    struct Change: Codable, Sendable {
        let prompt: String
        let update: PromptUpdate
    }
}

/// Begins a session, whose ID is the first update; it lasts until the caller hangs up, without an earlier reply.
struct BeginSession: ServiceOperation {
    typealias Reply = Valued<String>
    static let name = "io.whorl.Owner.Session"
    static let rules = OperationRules(.once, by: .anyProgram)
}
