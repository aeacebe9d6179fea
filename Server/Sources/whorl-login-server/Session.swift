// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LoginServer

/// The command `whorl-login-server session`.
struct Session: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ends the sessions of a user.",
        subcommands: [End.self]
    )

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ends all sessions of a user at this server; devices and password stay.",
            discussion:
                "Services verify tokens themselves, and take those that were given until they end: see --token-lifetime."
        )
        @OptionGroup var store: StoreOptions
        @OptionGroup var user: User.Name

        func run() async throws {
            let user = try user.checked()
            try await AccountsCommand(store: try await store.open()).endSessions(of: user)
        }
    }
}
