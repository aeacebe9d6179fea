// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LoginServer
internal import RelyingParty
internal import RelyingPartyPostgreSQL

/// Where users, devices and keys are.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An SQLite file, made where there is none, or postgres://….",
            valueName: "file|url"
        )
    )
    var database: String

    @Option(
        help: ArgumentHelp(
            "The file that seals the signing keys in the database. Default: beside the SQLite file; needed with PostgreSQL, the same for all instances.",
            valueName: "file"
        )
    )
    var keyFile: String?

    private var isPostgreSQL: Bool {
        database.hasPrefix("postgres://") || database.hasPrefix("postgresql://")
    }

    /// Opens the database.
    ///
    /// - Throws: what is wrong with it; never the URL, which may hold a password.
    func open() async throws -> any RelyingPartyStore {
        do throws(RelyingPartyError) {
            if isPostgreSQL { return try await PostgreSQLRelyingPartyStore(url: database) }
            return try SQLiteRelyingPartyStore(path: database)
        } catch {
            throw ServerError(.store, "the database cannot be used: \(error.cause)")
        }
    }

    /// The key file's path.
    func keyFilePath() throws(ServerError) -> String {
        if let keyFile { return keyFile }
        guard !isPostgreSQL else {
            throw ServerError(
                .options,
                "with PostgreSQL the key file is not found by itself",
                hint: "give --key-file, the same file for all instances; it is made where there is none"
            )
        }
        return database + ".key"
    }
}
