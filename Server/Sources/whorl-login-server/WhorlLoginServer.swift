// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import LoginServer

/// The command line.
@main
struct WhorlLoginServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whorl-login-server",
        abstract: "Server for sign-in by touch: challenges, devices and session tokens",
        discussion:
            "See Docs/LoginServer.md. Passwords are read from standard input, never from arguments.",
        // The version of the package above, which check-login compares.
        version: "0.1.0",
        subcommands: [Serve.self, Init.self, User.self, Device.self, Session.self, Audit.self, Key.self],
        defaultSubcommand: Serve.self
    )

    static func main() async {
        defer { JSONLines.flush() }
        do {
            let arguments = try ConfigurationFile.complete(Array(CommandLine.arguments.dropFirst()))
            var command = try parseAsRoot(IdentifierArgument.marking(arguments))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as ServerError {
            JSONLines.flush()
            complain(error.message, hint: error.hint)
            Foundation.exit(1)
        } catch {
            JSONLines.flush()
            exit(withError: error)
        }
    }

    private static func complain(_ message: String, hint: String?) {
        var text = "whorl-login-server: error: \(message)\n"
        if let hint { text += "whorl-login-server: hint: \(hint)\n" }
        FileHandle.standardError.write(Data(text.utf8))
    }
}
