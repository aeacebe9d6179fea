// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

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
