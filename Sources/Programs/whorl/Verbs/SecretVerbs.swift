// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import WhorlSecretMemory
import WhorlTerminalPrompt
import WhorlService

/// The command `whorl secret`.
struct Secret: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret",
        abstract: "Keeps secrets that the TPM gives only to their owner.",
        discussion: """
            Example:

              printf %s "$TOKEN" | whorl secret add github-token --access biometry-current-set
              whorl secret get github-token
            """,
        subcommands: [Add.self, Get.self, List.self, Delete.self]
    )

    /// The command `whorl secret add`.
    struct Add: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Keeps what comes on standard input, 1 byte to 1 MiB, byte for byte."
        )
        @Argument(help: "Its name.")
        var name: String
        @OptionGroup var access: AccessOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let id = try session.item(.secret, name)
            // Refusals come before anything is read.
            try await session.prepareItems()
            let (control, password) = try await access.read()
            let secret = try await Secret.fromStandardInput()
            _ = try await session.services.ask(
                AddItem(id, MakeItem(.secret(secret), access: control, applicationPassword: password))
            )
            return Answer(
                result: ["name": .string(id.name.text), "access": .string(control.text)],
                text: ["added: \(id.name.text) (\(control.text))"]
            )
        }
    }

    /// The command `whorl secret get`.
    struct Get: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "get",
            abstract: "Asks for what its access control wants, and writes the secret to standard output.",
            discussion: "With --json it is in Base64."
        )
        @Argument(help: "Its name.")
        var name: String
        @OptionGroup var options: ReleaseOptions
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let id = try session.item(.secret, name)
            let secret = try await options.release(
                id,
                session,
                patience: global.patience,
                otherwise: "get the secret “\(id.name.text)”"
            ) { request, presenter in
                try await session.services.secret(
                    in: .named(id),
                    request,
                    presenter: presenter
                )
            }
            return Answer(
                result: ["name": .string(id.name.text)],
                text: [],
                product: Product(name: "secret", bytes: secret)
            )
        }
    }

    /// The command `whorl secret list`.
    struct List: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Lists the secrets' names and what opens them."
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            .items(try await session.items(.secret), as: "secrets", none: "There is no secret.")
        }
    }

    /// The command `whorl secret delete`.
    struct Delete: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a secret, after its owner agreed if it requires one"
        )
        @Argument(help: "Its name.")
        var name: String
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try await session.delete(.secret, name, handing: try await passcode.preset())
        }
    }

    /// Reads a pipe or a file unchanged, or one line that a person types and that is not shown.
    private static func fromStandardInput() async throws -> SecretBox {
        guard StandardInput.isTerminal else {
            return try await StandardInput.read(atMost: SecretSize.allowed.upperBound)
        }
        return try await PasscodeReader().read("Secret")
    }
}
