// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The help that `whorl` prints: the parser's, with the global options described in a single place.
enum HelpText {
    /// Returns a help page from the parser, rewritten for display.
    ///
    /// - Parameter page: The parser's text.
    /// - Returns: An overview instead of the program's own page; the page of a command without the global options.
    static func shown(_ page: String) -> String {
        if page.contains("\nUSAGE: whorl [") || page.hasPrefix("USAGE: whorl [") { return overview }
        guard page.contains("USAGE: whorl ") else { return page }
        return withoutCommonOptions(page)
    }

    /// An overview of the commands by task, which fits on one screen.
    static var overview: String {
        let configuration = Whorl.configuration
        var lines = ["OVERVIEW: " + configuration.abstract, "", "USAGE: whorl [<options>] <command> ..."]
        for group in configuration.groupedSubcommands {
            lines += ["", group.name + (examples[group.name].map { ":  \($0)" } ?? "")]
            lines += group.subcommands.map { command in
                let name = command._commandName
                let gap = String(repeating: " ", count: max(1, 16 - name.count))
                return "  " + name + gap + command.configuration.abstract
            }
        }
        lines += [
            "", "All commands accept --json, --timeout, --reader, --profile, --state-dir, --tcti,",
            "--verbose: see 'whorl help options'. For one command: 'whorl help <command>'.",
        ]
        return lines.joined(separator: "\n")
    }

    /// An example for each group of commands.
    private static let examples = [
        "Set up": "whorl doctor && whorl enroll right-index-finger",
        "Authenticate": "whorl evaluate --reason \"unlock the vault\" && echo welcome",
        "Secrets and keys": "whorl secret get github-token",
        "System": "sudo whorl pam add sudo",
        "Servers": "whorl login attempt --server https://bank.example",
    ]

    /// The global options.
    static var options: String {
        """
        OPTIONS OF EVERY COMMAND:
        \(entries(in: Whorl.helpMessage(for: Whorl.self)).filter { isCommon($0) }.joined(separator: "\n"))

        Exit status: 0 for success, 10 if the finger did not match, 11 if you canceled;
        Docs/CommandLine.md lists all of them. Scripts can rely on these.
        """
    }

    private static func withoutCommonOptions(_ page: String) -> String {
        let common = Set(entries(in: page).filter(isCommon))
        guard !common.isEmpty else { return page }
        var text = page
        for entry in common { text = text.replacing(entry + "\n", with: "") }
        while text.hasSuffix("\n") { text.removeLast() }
        return text + "\n\n  See 'whorl help options' for the options of every command.\n"
    }

    private static let common = [
        "--state-dir", "--profile", "--reader", "--tcti", "--json", "--verbose", "--timeout", "--version",
    ]

    private static func isCommon(_ entry: String) -> Bool {
        common.contains { entry.hasPrefix("  \($0) ") || entry.hasPrefix("  \($0)\n") || entry == "  \($0)" }
    }

    /// Returns the options of a page, each with all of its lines.
    ///
    /// The first line of an option is indented by two spaces, the others by more.
    private static func entries(in page: String) -> [String] {
        var entries: [String] = []
        var isInside = false
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("  -") {
                entries.append(String(line))
                isInside = true
            } else if isInside, line.hasPrefix("      ") {
                entries[entries.count - 1] += "\n" + line
            } else {
                isInside = false
            }
        }
        return entries
    }
}
