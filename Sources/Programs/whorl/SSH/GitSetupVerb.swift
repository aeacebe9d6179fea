// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import WhorlService
import WhorlSupport

extension SSHCommand {
    /// The command `whorl ssh git-setup`.
    struct GitSetup: Verb {
        static let asks = Asked.engine
        static let configuration = CommandConfiguration(
            commandName: "git-setup",
            abstract: "Let git sign commits and tags with a key",
            discussion: """
                Shows which of git's settings it changes, and asks before it does. Without --global, it changes the repository in \
                the current directory. With --undo, the earlier settings return. Examples:

                  whorl ssh git-setup laptop --global
                  whorl ssh git-setup --undo --global
                """
        )
        @Argument(help: "Name of the key; may be omitted if there is one key")
        var name: String?
        @Flag(name: .customLong("global"), help: "Change the settings of all your repositories")
        var isForAll = false
        @Flag(help: "Restore the settings that were in effect before")
        var undo = false
        @Flag(help: "Do not ask")
        var yes = false
        @OptionGroup var global: GlobalOptions

        func answer(_ session: Session) async throws -> Answer {
            let git = try GitSettings(isGlobal: isForAll)
            let (changes, files) =
                undo ? (git.undoing, [:]) : try await git.changes(try await key(session), session)
            guard !changes.isEmpty else {
                return Answer(result: ["changed": .array([])], text: ["Nothing to change."])
            }
            let lines = changes.map { change in
                "  \(change.name): \(change.old ?? "not set") -> \(change.new ?? "not set")"
            }
            if !yes {
                guard !session.console.isJSON, Confirmation.isPossible else {
                    throw Failure.usage(
                        "git-setup asks before it changes git's settings.",
                        hint: "Run it on a terminal, or add --yes."
                    )
                }
                for line in ["these settings of git change:"] + lines { session.console.tell(line) }
                guard try await Confirmation.ask("Change them?", on: session.console) else {
                    throw ServiceError(.userCancel)
                }
            }
            if !files.isEmpty {
                let folder = try SSHFolder()
                try folder.make()
                for (file, text) in files { try folder.write(text, to: file) }
            }
            for change in changes { try git.apply(change, remembers: !undo) }
            return Answer(
                result: ["changed": .array(changes.map { .string($0.name) })],
                text: yes ? ["Changed:"] + lines : ["Done."]
            )
        }

        private func key(_ session: Session) async throws -> ItemID {
            if let name { return try session.item(.sshKey, name) }
            let keys = try await session.items(.sshKey)
            guard keys.count == 1, let key = keys.first else {
                throw Failure.usage(
                    keys.isEmpty ? "There are no SSH keys." : "There is more than one SSH key.",
                    hint: keys.isEmpty
                        ? "Create one: `whorl ssh create laptop`." : "Name one: `whorl ssh list`."
                )
            }
            return key.id
        }
    }
}
