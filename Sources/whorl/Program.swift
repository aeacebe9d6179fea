// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// The program: reads the command, runs it, ends with its status.
@main
enum Program {
    static func main() async {
        Interruption.listen()
        exit(await status(of: Array(CommandLine.arguments.dropFirst())))
    }

    private static func status(of arguments: [String]) async -> Int32 {
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

    /// Help and completions are answers; all else that the parser throws is a command that it does not understand.
    private static func report(_ error: any Error, _ arguments: [String]) -> Int32 {
        guard Whorl.exitCode(for: error) != .success else {
            print(Whorl.fullMessage(for: error))
            return ExitStatus.success.rawValue
        }
        let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
        let failure = Failure.usage(Whorl.message(for: error), hint: "`\(help(for: arguments))` shows what it takes.")
        Console(json: isJSON).finish(failure)
        return ExitStatus.usage.rawValue
    }

    /// The help of the command that was meant, as far as it was understood.
    private static func help(for arguments: [String]) -> String {
        var command: any ParsableCommand.Type = Whorl.self
        var words = ["whorl"]
        for argument in arguments where !argument.hasPrefix("-") {
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == argument })
            else { break }
            command = next
            words.append(argument)
        }
        return (words + ["--help"]).joined(separator: " ")
    }
}
