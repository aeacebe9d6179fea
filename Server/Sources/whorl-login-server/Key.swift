// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LoginServer

/// The command `whorl-login-server key`.
struct Key: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Changes the keys that session tokens are signed with.",
        subcommands: [Rotate.self]
    )

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a new key; it signs ten minutes later, once everybody has seen it."
        )
        @OptionGroup var store: StoreOptions

        @Flag(
            help:
                "Drop all other keys: for a key that somebody else has. All sessions are over within a second."
        )
        var revoke = false

        func run() async throws {
            let keyFile = try store.keyFilePath()
            // A key file in the wrong hands is replaced by a new one.
            let keys = try KeysCommand(
                store: try await store.open(),
                keyFile: keyFile,
                makesKeyFile: revoke
            )
            try await keys.rotate(revoke: revoke)
        }
    }
}
