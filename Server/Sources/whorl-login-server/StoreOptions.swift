// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LoginServer
internal import RelyingParty
internal import RelyingPartyPostgreSQL

/// The options that specify the database of users, devices and keys.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "SQLite file or postgres:// URL; created by init",
            valueName: "file|url"
        )
    )
    var database: String

    @Option(
        help: ArgumentHelp(
            "Key file that seals the signing keys in the database, created by init (default: next to the SQLite file; required with PostgreSQL, and the same for all instances)",
            valueName: "file"
        )
    )
    var keyFile: String?

    @Option(
        help: ArgumentHelp("Maximum number of connections to PostgreSQL", valueName: "number")
    )
    var databaseConnections = 8

    private var isPostgreSQL: Bool {
        database.hasPrefix("postgres://") || database.hasPrefix("postgresql://")
    }

    /// Opens the database for a command.
    ///
    /// Root opens the SQLite file of another user with that user's privileges.
    ///
    /// - Throws: An error that never contains the URL, which may include a password.
    func open(ifMissing: MissingDatabase = .refuse) async throws -> any RelyingPartyStore {
        do {
            if isPostgreSQL { return try await openPostgreSQL(ifMissing: ifMissing) }
            return try FileOwner.acting(for: database) {
                try SQLiteRelyingPartyStore(path: database, ifMissing: ifMissing)
            }
        } catch let error as RelyingPartyError {
            throw unusable(error, hint: hint(ifMissing: ifMissing))
        }
    }

    /// Opens the database for a server, which uses only its own privileges.
    ///
    /// - Throws: An error that never contains the URL.
    func openForServer() async throws -> any RelyingPartyStore {
        do {
            if isPostgreSQL { return try await openPostgreSQL(ifMissing: .refuse) }
            return try SQLiteRelyingPartyStore(path: database)
        } catch let error as RelyingPartyError {
            throw unusable(error, hint: hint(ifMissing: .refuse))
        }
    }

    private func openPostgreSQL(ifMissing: MissingDatabase) async throws -> any RelyingPartyStore {
        try await PostgreSQLRelyingPartyStore(
            url: database,
            connections: min(max(1, databaseConnections), 256),
            ifMissing: ifMissing
        )
    }

    private func unusable(_ error: RelyingPartyError, hint: String?) -> ServerError {
        ServerError(.store, "cannot use the database: \(error.cause)", hint: hint)
    }

    private func hint(ifMissing: MissingDatabase) -> String? {
        if !isPostgreSQL, let owner = FileOwner.otherOwner(of: database) {
            return "runuser -u \(owner) -- whorl-login-server …, as root"
        }
        return ifMissing == .refuse
            ? "check --database and whether its volume is mounted; only init creates a new one" : nil
    }

    /// Returns the key file's path.
    func keyFilePath() throws(ServerError) -> String {
        if let keyFile { return keyFile }
        guard !isPostgreSQL else {
            throw ServerError(
                .options,
                "--key-file is required with PostgreSQL",
                hint: "use the same key file for all instances; init creates it"
            )
        }
        return database + ".key"
    }
}
