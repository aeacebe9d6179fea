// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlService

/// The command `whorl forget-me`.
struct ForgetMe: Verb {
    static let asks = Asked.systemService
    static let configuration = CommandConfiguration(
        commandName: "forget-me",
        abstract: "Delete everything that is stored for you",
        discussion: """
            The system service deletes your fingers, also in connected readers, your secrets, keys, keychain items, passcode and log. \
            This cannot be undone. You authenticate by touch or passcode, or with your login password if you have neither. The \
            system's journal and backups are not changed.
            """
    )

    @Flag(help: "Do not ask whether to delete everything")
    var yes = false
    @OptionGroup var passcode: PasscodeOption
    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer {
        try requireSystemService("The system service is not installed.")
        // If this cannot be read, nothing is deleted: a keyring would be lost with its password.
        if try await session.services.ask(ReadKeyringStatus()).hasOwnPassword {
            throw Failure.usage(
                "The keyring's own password would be lost.",
                hint: "First run `whorl keyring off`."
            )
        }
        if !yes { try await confirm(session) }
        let preset = try await passcode.preset()
        _ = try await PasswordAgent.beside(session) {
            try await session.ask(handing: preset) { DeleteEverything($0) }
        }
        return Answer(result: ["deleted": true], text: ["Deleted everything that was stored for you."])
    }

    private func confirm(_ session: Session) async throws {
        guard !session.console.isJSON, Confirmation.isPossible else {
            throw Failure.usage(
                "All your fingers, secrets, keys and the log would be lost.",
                hint: "Run it on a terminal, or add --yes."
            )
        }
        let question = "Delete all your fingers, secrets, keys and the log?"
        guard try await Confirmation.ask(question, on: session.console) else {
            throw ServiceError(.userCancel)
        }
    }
}
