// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LoginServer

/// The command `whorl-login-server key`.
struct Key: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the keys that sign session tokens",
        subcommands: [Rotate.self]
    )

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a new signing key, used after ten minutes so that all services have fetched it"
        )
        @OptionGroup var store: StoreOptions

        @Flag(
            help:
                "Delete all other keys, for example after a theft; all sessions end within a second"
        )
        var revoke = false

        func run() async throws {
            let keyFile = try store.keyFilePath()
            // A compromised key file is replaced with a new one.
            let keys = try KeysCommand(
                store: try await store.open(),
                keyFile: keyFile,
                makesKeyFile: revoke
            )
            try await keys.rotate(revoke: revoke)
        }
    }
}
