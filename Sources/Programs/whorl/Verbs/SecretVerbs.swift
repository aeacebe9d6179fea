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
        abstract: "Store and retrieve secrets protected by the TPM",
        discussion: """
            The TPM releases a secret only after you authenticate. Example:

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
            abstract: "Store a secret read from standard input (1 byte to 1 MiB)"
        )
        @Argument(help: "Name of the secret")
        var name: String
        @OptionGroup var access: AccessOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let id = try session.item(.secret, name)
            // Report refusals before reading anything.
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
            abstract: "Authenticate as the secret's access control requires, then print it",
            discussion: "With --json, the secret is printed in Base64."
        )
        @Argument(help: "Name of the secret")
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
            abstract: "List secrets and their access controls"
        )
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            .items(try await session.items(.secret), as: "secrets", none: "No secrets.")
        }
    }

    /// The command `whorl secret delete`.
    struct Delete: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a secret (prompts if its access control requires it)"
        )
        @Argument(help: "Name of the secret")
        var name: String
        @OptionGroup var passcode: PasscodeOption
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            try await session.delete(.secret, name, handing: try await passcode.preset())
        }
    }

    /// Returns the content of a pipe or a file unchanged, or one line that the user types without echo.
    private static func fromStandardInput() async throws -> SecretBox {
        guard StandardInput.isTerminal else {
            return try await StandardInput.read(atMost: SecretSize.allowed.upperBound)
        }
        return try await PasscodeReader().read("Secret")
    }
}
