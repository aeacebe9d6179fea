// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlSecretMemory
import WhorlService

/// The abilities of the presenter at the caller's side, as they are now.
struct PresenterAbilities: Codable, Sendable, Equatable {
    var isInteractive: Bool
    var takesPasscode: Bool
    /// Whether the presenter hands in a passcode that it has, and so needs no other program to ask for it.
    var hasPasscode: Bool?
}

/// A call during which the owner may be asked.
struct Prompting<Call: Codable & Sendable>: Codable, Sendable {
    let call: Call
    let presenter: PresenterAbilities
}

/// An update or the reply of a call during which the owner may be asked; one member is set.
struct Prompted<Reply: Codable & Sendable>: Codable, Sendable {
    /// A prompt begins.
    var prompt: ShownPrompt?
    /// A prompt begins that an agent shows.
    var elsewhere: Bool?
    /// The prompt that is shown changes.
    var update: PromptUpdate?
    /// The prompt with this id ends; the caller confirms it with `io.whorl.Prompt.Ended`.
    var end: String?
    /// An enrollment goes on.
    var progress: EnrollmentProgress?
    /// The call has ended with this.
    var value: Reply?
}

/// A prompt with the id by which it is answered.
struct ShownPrompt: Codable, Sendable {
    /// 128 random bits, in hexadecimal; only the program that shows the prompt learns them.
    let id: String
    let prompt: Prompt
}

/// The interface by which the program that shows a prompt answers it, on another connection than the one it came by.
///
/// Nothing here makes an evaluation succeed: a passcode is compared by the service, and a button ends the prompt.
enum PromptInterface {
    /// Hands a passcode in; the reply says whether it will be compared.
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

    /// Reports that the person is typing.
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
/// An agent answers its prompts as a caller does, by ``PromptInterface``. Nothing that it says makes an evaluation
/// succeed.
enum AgentInterface {
    /// Registers the caller until it hangs up; there is no reply before.
    struct Register: ServiceOperation {
        typealias Reply = AgentInterface.Update
        static let name = "io.whorl.Agent.Register"
        static let rules = OperationRules(.once, by: .unconfined)

        let presenter: PresenterAbilities
    }

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
}

/// Begins a session, whose id is the first update; it lasts until the caller hangs up, and has no reply before.
struct BeginSession: ServiceOperation {
    typealias Reply = Valued<String>
    static let name = "io.whorl.Owner.Session"
    static let rules = OperationRules(.once, by: .anyProgram)
}
