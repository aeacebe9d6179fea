// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LoginServer

/// The command `whorl-login-server init`.
struct Init: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sets up a new database and its key file, once.",
        discussion: """
            No other command makes a database: a server on an empty one, where a path is wrong or a volume is not mounted, \
            would tell every device that it does not know its key. A database that was set up before is refused.
            """
    )

    @OptionGroup var store: StoreOptions

    @Flag(
        help:
            "Take the key file that is there, as where it comes from a secret store; otherwise there may be none."
    )
    var useKeyFile = false

    func run() async throws {
        let command = try InitCommand(keyFile: try store.keyFilePath(), usesKeyFile: useKeyFile)
        try await command.run(on: try await store.open(ifMissing: .create))
    }
}
