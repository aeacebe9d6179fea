// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import WhorlService
import WhorlSupport

/// The program: parses the command, runs it, and exits with its status.
@main
enum Program {
    static func main() async {
        StandardStreams.fillGaps()
        guard ThisProcess.hideMemory() else { leave(end(exposed, CommandLine.arguments)) }
        // Programs get English text, including the C library's own messages.
        if !CommandLine.arguments.contains("--json") { Translations.begin() }
        Interruption.listen()
        leave(await status(of: Array(CommandLine.arguments.dropFirst())))
    }

    /// Exits without the cleanup of exit(3), after all output has been written.
    ///
    /// That cleanup frees resources of OpenSSL, libtss2 and GLib while their threads may still use them. A command
    /// could then crash after printing its answer, and exit with a different status.
    private static func leave(_ status: Int32) -> Never { _exit(status) }

    private static func status(of arguments: [String]) async -> Int32 {
        if let problem = OpenFiles.makeRoom() ?? ProcessInput.problemWithArguments() {
            return end(problem, arguments)
        }
        if arguments == ["help", "options"] {
            return Console(json: false).finish(lines: [HelpText.options]).rawValue
        }
        EarlyChild.begin(IntendedCommand(arguments), arguments)
        do {
            var command = try Whorl.parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return ExitStatus.success.rawValue
        } catch let code as ExitCode {
            return code.rawValue
        } catch {
            return report(error, arguments)
        }
    }

    /// Reports an error from the parser: help and completions are answers, and any other error means an invalid
    /// command.
    private static func report(_ error: any Error, _ arguments: [String]) -> Int32 {
        guard Whorl.exitCode(for: error) != .success else {
            return Console(json: false).finish(lines: [HelpText.shown(Whorl.fullMessage(for: error))])
                .rawValue
        }
        let meant = IntendedCommand(arguments)
        let failure =
            meant.unknownWord.map { unknown($0, of: meant) }
            ?? .usage(Whorl.message(for: error), hint: "`\(meant.help)` shows its arguments and options.")
        return end(failure, arguments)
    }

    private static func end(_ failure: Failure, _ arguments: [String]) -> Int32 {
        Console(json: arguments.prefix { $0 != "--" }.contains("--json")).finish(failure).rawValue
    }

    private static let exposed = Failure(
        code: "incomplete",
        message: "The system does not let this program protect its memory from other programs.",
        reason: "setrlimit(2) or prctl(2) was refused",
        recovery: "Run it outside the sandbox that forbids this."
    )

    private static func unknown(_ word: String, of meant: IntendedCommand) -> Failure {
        let typed = DisplayText.clean(word, limit: 40)
        return .usage("Unknown command “\(typed)”.", hint: "`\(meant.help)` lists the commands.")
    }
}

/// The intended command, as far as it could be recognized.
struct IntendedCommand {
    private(set) var words = ["whorl"]
    /// The first word that is not the name of a command although one is required in its place.
    private(set) var unknownWord: String?
    private var command: any ParsableCommand.Type = Whorl.self

    init(_ arguments: [String]) {
        var rest = arguments[...]
        while let argument = rest.popFirst(), argument != "--" {
            if argument.hasPrefix("-") {
                if Self.takesValue.contains(argument) { rest = rest.dropFirst() }
                continue
            }
            let commands = command.configuration.subcommands
            guard let next = commands.first(where: { $0._commandName == argument }) else {
                // A command with subcommands takes no arguments itself.
                unknownWord = commands.isEmpty ? nil : argument
                return
            }
            command = next
            words.append(argument)
        }
    }

    /// The options with a value that may precede a command's name.
    private static let takesValue: Set = ["--state-dir", "--profile", "--reader", "--tcti", "--timeout"]

    /// Returns whether the command uses an engine and the arguments do not request help.
    func asksEngine(_ arguments: [String]) -> Bool {
        guard unknownWord == nil, let verb = command as? any Verb.Type,
            verb.asks == .engine || verb.asks == .engineBriefly
        else { return false }
        return arguments.prefix { $0 != "--" }.allSatisfy { !Self.answersItself.contains($0) }
    }

    /// The options that the parser itself handles.
    private static let answersItself: Set = ["--help", "-h", "--help-hidden", "--version"]

    var help: String { (words + ["--help"]).joined(separator: " ") }
}

/// The root command.
struct Whorl: Verb {
    static let asks = Asked.engineBriefly
    static let configuration = CommandConfiguration(
        commandName: "whorl",
        abstract: "Fingerprint authentication backed by the TPM",
        discussion: """
            Enroll your fingers, authenticate with a touch, and store secrets and keys that the TPM releases only then. \
            Without a command, whorl shows the state of this computer and the next step. Example:

              whorl enroll right-index-finger
              whorl evaluate --reason "unlock the vault" && echo welcome

            Every command takes --json for scripts. Exit status: 0 for success, 10 if the finger did not match, 11 if you \
            canceled.
            """,
        version: WhorlVersion.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Set up",
                subcommands: [
                    Doctor.self, Devices.self, Enroll.self, Fingers.self, Remove.self, Passcode.self,
                ]
            ),
            CommandGroup(
                name: "Authenticate",
                subcommands: [
                    Evaluate.self, CanEvaluate.self, Identify.self, DomainState.self, Log.self, Agent.self,
                ]
            ),
            CommandGroup(
                name: "Secrets and keys",
                subcommands: [Secret.self, Key.self, VaultCommand.self, Migrate.self]
            ),
            CommandGroup(
                name: "System",
                subcommands: [
                    PAMCommand.self, Keyring.self, Biometry.self, Unlock.self, AccountCommand.self,
                    ImportFprintd.self,
                ]
            ),
            CommandGroup(name: "Servers", subcommands: [Login.self]),
        ]
    )

    @OptionGroup var global: GlobalOptions

    func answer(_ session: Session) async throws -> Answer { await Overview(session).answer() }
}
