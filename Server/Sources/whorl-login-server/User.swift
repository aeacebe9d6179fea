// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import LoginAssertion
internal import LoginServer

/// The command `whorl-login-server user`.
struct User: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage users and their passwords",
        subcommands: [Add.self, Password.self, Remove.self, List.self]
    )

    /// A user's name.
    struct Name: ParsableArguments {
        @Argument(help: "User name")
        var name: String

        func checked() throws -> LoginName {
            guard let name = LoginName(name), !name.text.contains(":") else {
                throw ValidationError(
                    "A user name must have 1 to \(LoginName.longest) bytes, without colons, control characters, or white space at either end."
                )
            }
            return name
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a user; the password is the first line of standard input"
        )
        @OptionGroup var store: StoreOptions
        @OptionGroup var user: Name

        func run() async throws {
            let name = try user.checked()
            try await AccountsCommand(store: try await store.open()).add(name, password: try readPassword())
        }
    }

    struct Password: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "passwd",
            abstract:
                "Set a user's password, the first line of standard input; devices stay enabled"
        )
        @OptionGroup var store: StoreOptions
        @OptionGroup var user: Name

        @Flag(help: "Also revoke all of the user's devices, for example after the password was stolen")
        var revokeDevices = false

        func run() async throws {
            let name = try user.checked()
            let accounts = AccountsCommand(store: try await store.open())
            try await accounts.setPassword(try readPassword(), of: name, revokesDevices: revokeDevices)
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a user and revoke all their devices"
        )
        @OptionGroup var store: StoreOptions
        @OptionGroup var user: Name

        func run() async throws {
            let name = try user.checked()
            try await AccountsCommand(store: try await store.open()).remove(name)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List users, one per line")
        @OptionGroup var store: StoreOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let names = try await AccountsCommand(store: try await store.open()).all().map(\.text)
            try output.write("users", names) { [$0] }
        }
    }

    /// Reads the first line of standard input; on a terminal, prompts for it without echo.
    private static func readPassword() throws -> String {
        let isTerminal = isatty(STDIN_FILENO) == 1
        var settings = termios()
        if isTerminal {
            FileHandle.standardError.write(Data("Password: ".utf8))
            tcgetattr(STDIN_FILENO, &settings)
            var silent = settings
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        }
        let line = readLine(strippingNewline: true)
        if isTerminal {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
            FileHandle.standardError.write(Data("\n".utf8))
        }
        guard let line, !line.isEmpty else {
            throw ValidationError("No password on standard input.")
        }
        return line
    }
}
