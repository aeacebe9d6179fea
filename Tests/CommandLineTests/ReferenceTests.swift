// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlFingerprint
import Foundation
import Testing

@testable import whorl
import WhorlService

/// Docs/CommandLine.md says what the program takes, prints and ends with, and nothing that it does not.
@Suite struct `The reference of the command line` {
    private let page: Page

    init() throws { page = try Page() }

    /// The page, cut into its sections.
    private struct Page {
        let text: String
        /// By heading, without its number signs.
        let sections: [(heading: String, body: String)]

        init() throws {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            text = try String(contentsOf: root.appending(path: "Docs/CommandLine.md"), encoding: .utf8)
            var sections: [(String, String)] = []
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                if line.hasPrefix("#") {
                    sections.append((String(line.drop { $0 == "#" || $0 == " " }), ""))
                } else if !sections.isEmpty {
                    sections[sections.count - 1].1 += line + "\n"
                }
            }
            self.sections = sections
        }

        /// Heading and body of a command's section, or of the options of every command.
        func section(_ name: String) -> String? {
            sections.first { $0.heading.contains(name) }.map { $0.heading + "\n" + $0.body }
        }

        /// The options named in a text.
        static func options(in text: String) -> Set<String> {
            Set(text.matches(of: /(?:^|[ `\[(|])(--[a-z][a-z-]*)/).map { String($0.1) })
        }

        /// The words in code spans and code blocks.
        var words: Set<String> {
            let code = text.matches(of: /`[^`]*`|\n    .*/).map { String($0.0) }
            return Set(code.flatMap { $0.matches(of: /[A-Za-z][A-Za-z0-9-]*/).map { String($0.0) } })
        }
    }

    /// What `--experimental-dump-help` tells.
    private struct Command: Decodable {
        struct Help: Decodable { let command: Command }
        struct Argument: Decodable {
            struct Name: Decodable {
                let kind: String
                let name: String
            }
            let names: [Name]?
        }
        let commandName: String
        let subcommands: [Command]?
        let arguments: [Argument]?

        var options: Set<String> {
            Set(
                (arguments ?? []).flatMap { $0.names ?? [] }.filter { $0.kind == "long" }.map {
                    "--" + $0.name
                }
            )
        }

        /// All commands below this one, with their whole names.
        func all(_ path: String = "") -> [(name: String, command: Command)] {
            let name = path.isEmpty ? commandName : path + " " + commandName
            return [(name, self)] + (subcommands ?? []).flatMap { $0.all(name) }
        }
    }

    private func program() async throws -> Command {
        let outcome = try await WhorlProgram().run(["--experimental-dump-help"])
        return try JSONDecoder().decode(Command.Help.self, from: Data(outcome.out.utf8)).command
    }

    @Test func `has every command with its options, and no other option`() async throws {
        let root = try await program()
        let everywhere = try #require(page.section("Options of every command"))
        let common = root.options.union(["--help", "--generate-completion-script"])
        #expect(Page.options(in: everywhere) == common)
        for (name, command) in root.all().dropFirst() where command.commandName != "help" {
            let section = try #require(page.section("`\(name)"), "there is no section of “\(name)”")
            let named = Page.options(in: section)
            let own = command.options.subtracting(common)
            #expect(own.isSubset(of: named), "“\(name)” lacks \(own.subtracting(named))")
            // A group's section stands for all its commands.
            let inGroup = Set(
                root.all().filter { section.contains("`\($0.name)") }.flatMap { $0.command.options }
            )
            #expect(
                named.isSubset(of: inGroup.union(common)),
                "“\(name)” names \(named.subtracting(inGroup).subtracting(common)), which is no option"
            )
        }
        #expect(root.all().count > 15)
    }

    @Test func `has every command that its headings name`() async throws {
        let names = Set(try await program().all().map(\.name))
        for (heading, _) in page.sections where heading.hasPrefix("`whorl ") {
            let words = heading.drop { $0 == "`" }.prefix { $0 != "`" }.split(separator: " ")
            let verb = words.prefix { $0.allSatisfy { $0.isLowercase || $0 == "-" } && !$0.hasPrefix("-") }
            #expect(names.contains(verb.joined(separator: " ")), "\(heading)")
        }
    }

    @Test func `has every exit status, and no other`() throws {
        let section = try #require(page.section("Exit status"))
        let rows = Set(section.matches(of: /(?m)^\| (\d+) \|/).compactMap { Int32($0.1) })
        #expect(rows == Set(ExitStatus.allCases.map(\.rawValue)))
    }

    @Test func `has every member and every name that the program prints`() async throws {
        let whorl = try WhorlProgram()
        let reader = "mock:storage=reader,storage-file=\(whorl.home)/chip,stages=2,then=match,retry:too-short"
        var lines: [String] = []
        for command in [
            ["devices"], ["devices", "exercise"], ["devices", "capture", "-o", "x.pgm"], ["doctor"],
            ["enroll", "left-thumb", "--label", "x"], ["fingers"], ["can-evaluate"],
            ["evaluate", "--reason", "r"],
            ["domain-state"], ["domain-state", "--since", String(repeating: "A", count: 43) + "="], ["log"],
            ["biometry", "status"], ["doctor"], ["remove", "--all"], ["can-evaluate"],
            ["remove", "left-thumb"],
        ] {
            lines += try await whorl.run(command + ["--json"], reader: reader).lines
        }
        let known = page.words
        for line in lines {
            let missing = Self.names(in: try #require(object(line))).subtracting(known)
            #expect(missing.isEmpty, "\(missing) in \(line)")
        }
        #expect(lines.count > 30)
    }

    /// All members, and the values of those that hold one of a few names.
    private static func names(in value: Any) -> Set<String> {
        if let list = value as? [Any] { return list.reduce(into: []) { $0.formUnion(names(in: $1)) } }
        guard let members = value as? [String: Any] else { return [] }
        return members.reduce(into: []) { found, member in
            found.insert(member.key)
            found.formUnion(names(in: member.value))
            let isName = [
                "event", "code", "reason", "readerKind", "storage", "strength", "scanType", "method",
            ]
            .contains(member.key)
            if isName, let name = member.value as? String, !name.contains(" "), !name.isEmpty {
                found.insert(name)
            }
        }
    }
}
