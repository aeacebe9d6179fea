// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import WhorlAge
import WhorlService
import WhorlSupport

/// The command `whorl age`.
struct AgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "age",
        abstract: "Create keys in the TPM that decrypt files of age",
        discussion: """
            Anyone can encrypt files to the key's recipient, without the TPM. Decrypting prompts for a finger or the passcode. \
            age starts age-plugin-whorl for that (Docs/SSH.md). Example:

              whorl age create --output ~/.config/age-key
              age -r age1tag1… -o notes.age notes
              age -d -i ~/.config/age-key notes.age
            """,
        subcommands: [Create.self, Recipient.self, AgeRecipientPlugin.self, AgeIdentityPlugin.self]
    )

    /// The command `whorl age create`.
    struct Create: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create a key and print its identity for age",
            discussion: """
                The identity refers to a key that only this computer's TPM can use. Files that are encrypted to this key alone are lost \
                with the computer: encrypt them to another recipient as well.
                """
        )
        @OptionGroup var access: PromptedAccessOption
        @Option(name: .shortAndLong, help: ArgumentHelp("New file for the identity", valueName: "file"))
        var output: String?
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let control = try await access.read(session, loss: "Encrypt files to another recipient as well.")
            let file = try output.map { path throws(Failure) in try NewFile(path) }
            try await session.prepareItems()
            let key = try await session.services.makeKey(access: control, applicationPassword: nil)
            guard let point = key.publicKey, let recipient = AgeTagRecipient(x963: point) else {
                throw ServiceError(.chipFailed, cause: "no public key")
            }
            let identity = AgeIdentity(recipient, sealedKey: Array(key.encoded))
            let lines = [
                "# created: \(Date().ISO8601Format())", "# access: \(control.text)",
                "# recipient: \(recipient.text)", identity.text,
            ]
            try file?.write(lines.map { $0 + "\n" }.joined())
            return Answer(
                result: [
                    "recipient": .string(recipient.text), "identity": .string(identity.text),
                    "access": .string(control.text),
                ],
                text: file == nil ? lines : ["recipient: \(recipient.text)"]
            )
        }
    }

    /// The command `whorl age recipient`.
    struct Recipient: Verb {
        static let asks = Asked.nothing
        static let configuration = CommandConfiguration(
            commandName: "recipient",
            abstract: "Print the recipients of the identities in a file"
        )
        @Argument(help: ArgumentHelp("File that `whorl age create` has written", valueName: "file"))
        var file: String
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            guard let text = Files.text(file) else {
                throw Failure.usage(
                    "The file “\(file)” cannot be read.",
                    hint: "Check its name and permissions."
                )
            }
            let lines = text.split(whereSeparator: \.isNewline).map(String.init)
            let recipients = lines.compactMap { AgeIdentity($0)?.recipient.text }
            guard !recipients.isEmpty else {
                throw Failure.usage(
                    "The file has no identity of Whorl.",
                    hint: "Create one: `whorl age create`."
                )
            }
            return Answer(result: ["recipients": .array(recipients.map { .string($0) })], text: recipients)
        }
    }
}
