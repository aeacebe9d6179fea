// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LoginServer
internal import RelyingParty
internal import RelyingPartyPostgreSQL

/// The options that name the database of users, devices and keys.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An SQLite file, or postgres://…; init makes it.",
            valueName: "file|url"
        )
    )
    var database: String

    @Option(
        help: ArgumentHelp(
            "The file that seals the signing keys in the database. Default: beside the SQLite file; needed with PostgreSQL, the same for all instances; init makes it.",
            valueName: "file"
        )
    )
    var keyFile: String?

    @Option(
        help: ArgumentHelp("How many connections to PostgreSQL there may be.", valueName: "number")
    )
    var databaseConnections = 8

    private var isPostgreSQL: Bool {
        database.hasPrefix("postgres://") || database.hasPrefix("postgresql://")
    }

    /// Opens the database.
    ///
    /// - Throws: an error that never quotes the URL, which may hold a password.
    func open(ifMissing: MissingDatabase = .refuse) async throws -> any RelyingPartyStore {
        do throws(RelyingPartyError) {
            if isPostgreSQL {
                return try await PostgreSQLRelyingPartyStore(
                    url: database,
                    connections: min(max(1, databaseConnections), 256),
                    ifMissing: ifMissing
                )
            }
            return try SQLiteRelyingPartyStore(path: database, ifMissing: ifMissing)
        } catch {
            throw ServerError(
                .store,
                "the database cannot be used: \(error.cause)",
                hint: ifMissing == .refuse
                    ? "is --database right, and its volume mounted? A new one is made by init, and by nothing else"
                    : nil
            )
        }
    }

    /// Returns the key file's path.
    func keyFilePath() throws(ServerError) -> String {
        if let keyFile { return keyFile }
        guard !isPostgreSQL else {
            throw ServerError(
                .options,
                "with PostgreSQL the key file is not found by itself",
                hint: "give --key-file, the same file for all instances; init makes it"
            )
        }
        return database + ".key"
    }
}
