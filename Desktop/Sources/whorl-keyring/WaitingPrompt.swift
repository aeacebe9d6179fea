// SPDX-License-Identifier: Apache-2.0

import KeyringQuestion

/// The identification of a prompt: the program that asks, and the object on which it waits for the answer.
struct PromptID: Hashable, Sendable {
    /// The maximum length of a path in bytes.
    static let longestPath = 256

    /// The program's unique name on the bus, which is never used again.
    let caller: String
    let path: String

    /// The object that is called back.
    var place: BusPlace {
        BusPlace(owner: caller, path: path, interface: "org.gnome.keyring.internal.Prompter.Callback")
    }
}

/// A prompt of another program, from its first call to the last.
@MainActor
final class WaitingPrompt {
    /// The place where a question is answered.
    enum Lane {
        /// The program has not been told that it may ask.
        case begun
        /// No question is open.
        case none
        /// It is not known yet who asks, and for which keyring.
        case unknown
        /// The question of the keyring's daemon for the password that the service has.
        case touch
        /// Any other question, for which a dialog is shown.
        case dialog
    }

    let id: PromptID
    /// The number of prompts before this one.
    let number: Int
    /// Whether its program had one of the daemon's names at its beginning, which is not a proof.
    let ownsName: Bool
    let exchange = SecretExchange()
    /// Ends with the prompt.
    var watch: CallerWatch?
    var lane = Lane.begun
    var texts = PromptTexts()
    var kind = KeyringQuestion.Kind.password
    /// Whether the service's password was passed to this prompt, which asks again if it was wrong.
    var wasOffered = false
    /// Whether the program that asks is the keyring's daemon, as of the open question.
    var isOfDaemon = false
    /// Counts questions, so that a late result is not taken for that of the next one.
    var round = 0
    /// The reason why a dialog is shown instead of the prompt for a touch.
    var note = ""

    init(_ id: PromptID, number: Int, ownsName: Bool) {
        self.id = id
        self.number = number
        self.ownsName = ownsName
    }

    /// The question for the dialog.
    var question: KeyringQuestion {
        var question = texts.question(kind)
        if !note.isEmpty { question.warning += question.warning.isEmpty ? note : "\n" + note }
        return question
    }
}
