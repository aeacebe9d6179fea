// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlSecretMemory
import WhorlService

/// The current abilities of the caller's presenter.
struct PresenterAbilities: Codable, Sendable, Equatable {
    var isInteractive: Bool
    var takesPasscode: Bool
    /// Whether the presenter supplies a passcode that it already has, so that no other program must prompt for it.
    var hasPasscode: Bool?
}

/// A call that may prompt the owner.
struct Prompting<Call: Codable & Sendable>: Codable, Sendable {
    let call: Call
    let presenter: PresenterAbilities
}

/// An update or the reply of a call that may prompt the owner; exactly one property is not `nil`.
struct Prompted<Reply: Codable & Sendable>: Codable, Sendable {
    /// The prompt that begins.
    var prompt: ShownPrompt?
    /// Whether a prompt begins that an agent shows.
    var elsewhere: Bool?
    /// The change of the current prompt.
    var update: PromptUpdate?
    /// The ID of the prompt that ends; the caller confirms this with `io.whorl.Prompt.Ended`.
    var end: String?
    /// The progress of an enrollment.
    var progress: EnrollmentProgress?
    /// The value with which the call has ended.
    var value: Reply?
}

/// A prompt, with the ID that is used to answer it.
struct ShownPrompt: Codable, Sendable {
    /// The prompt's ID: 128 random bits in hexadecimal, which only the program that shows the prompt receives.
    let id: String
    let prompt: Prompt
}

/// The interface that a program uses to answer a prompt that it shows, over a different connection than the one that
/// delivered it.
///
/// No method can make an evaluation succeed: the service compares passcodes, and a button only ends the prompt.
enum PromptInterface {
    /// Submits a passcode; the reply says whether the service will compare it.
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

    /// Reports that the user will not enter another passcode.
    struct Close: ServiceOperation {
        typealias Reply = Valued<Bool>
        static let name = "io.whorl.Prompt.Close"
        static let rules = OperationRules(.repeatable, by: .anyProgram, isAboutProcess: false)

        let prompt: String
    }

    /// Reports that the prompt is no longer shown, and which button was pressed.
    struct Ended: ServiceOperation {
        typealias Reply = Valued<Bool>
        static let name = "io.whorl.Prompt.Ended"
        static let rules = OperationRules(.repeatable, by: .anyProgram, isAboutProcess: false)

        let prompt: String
        let action: PromptAction?
        let presenter: PresenterAbilities
    }
}

/// The interface for programs that show other programs' prompts (``AgentPolicy``).
///
/// An agent uses ``PromptInterface`` to answer its prompts, as a caller does. Nothing that it reports can make an
/// evaluation succeed.
enum AgentInterface {
    /// Registers the caller until it closes the connection; the call does not return before that.
    struct Register: ServiceOperation {
        typealias Reply = AgentInterface.Update
        static let name = "io.whorl.Agent.Register"
        static let rules = OperationRules(.once, by: .unconfined)

        let presenter: PresenterAbilities
    }

    /// An update of a registration; exactly one property is not `nil`.
    struct Update: Codable, Sendable {
        /// Whether the agent is registered and will receive prompts.
        var isRegistered: Bool?
        /// The prompt that begins.
        var prompt: ShownPrompt?
        /// The change of one of the current prompts.
        var change: Change?
        /// The ID of the prompt that ends; the agent confirms this with `io.whorl.Prompt.Ended`.
        var end: String?
    }

    /// A change of one prompt, because an agent may show several at the same time.
    struct Change: Codable, Sendable {
        let prompt: String
        let update: PromptUpdate
    }
}

/// Begins a session and sends its ID as the first update.
///
/// The session lasts until the caller closes the connection; the call does not return before that.
struct BeginSession: ServiceOperation {
    typealias Reply = Valued<String>
    static let name = "io.whorl.Owner.Session"
    static let rules = OperationRules(.once, by: .anyProgram)
}
