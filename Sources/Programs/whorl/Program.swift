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
