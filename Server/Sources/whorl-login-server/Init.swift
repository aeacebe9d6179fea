// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LoginServer

/// The command `whorl-login-server init`.
struct Init: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Create a new database and its key file",
        discussion: """
            No other command creates a database, because a server that starts with an empty one, for example when a volume \
            is not mounted, would tell every device that its key is unknown. An existing database is left alone.
            """
    )

    @OptionGroup var store: StoreOptions

    @Flag(
        help:
            "Use the existing key file, for example from a secret store; without this option, none may exist"
    )
    var useKeyFile = false

    func run() async throws {
        let command = try InitCommand(keyFile: try store.keyFilePath(), usesKeyFile: useKeyFile)
        try await command.run(on: try await store.open(ifMissing: .create))
    }
}
