// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LoginServer

/// The command `whorl-login-server session`.
struct Session: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage a user's sessions",
        subcommands: [End.self]
    )

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End all sessions of a user at this server; devices and password are kept",
            discussion:
                "Services that verify tokens themselves accept issued tokens until they expire; see --token-lifetime."
        )
        @OptionGroup var store: StoreOptions
        @OptionGroup var user: User.Name

        func run() async throws {
            let user = try user.checked()
            try await AccountsCommand(store: try await store.open()).endSessions(of: user)
        }
    }
}
