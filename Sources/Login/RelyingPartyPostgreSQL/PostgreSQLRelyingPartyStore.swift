// SPDX-License-Identifier: Apache-2.0

public import RelyingParty

/// A store in a PostgreSQL database, for several instances behind one balancer.
///
/// Each operation is one statement or one transaction. An acknowledged change is on the disk if the server's
/// `synchronous_commit` says so, as it does by default. Exceptions are counts of tries, and the last step of a sign-in
/// whose challenge was used up before. After a failover to a replica that lagged behind, an answered challenge may be
/// back for the rest of its lifetime: replicate synchronously.
///
/// An operation throws `store` if the server does not reply within seconds, or is lost after it was asked for a change,
/// which then may have taken effect or not. Queries are repeated once.
public final class PostgreSQLRelyingPartyStore: Sendable {
    let pool: PostgreSQLPool

    /// Connects; the tables are in a schema named `whorl_login`.
    ///
    /// A schema of that name that belongs to another program or version is refused and stays unchanged. The thread of
    /// the caller is not blocked.
    ///
    /// - Parameters:
    ///   - url: `postgres://…`, as libpq reads it. A password is better kept in `~/.pgpass`, where no list of processes
    ///     shows it.
    ///   - connections: The maximum number of connections; each has a thread of its own.
    ///   - ifMissing: Whether missing tables are made.
    /// - Throws: `store`.
    public convenience init(
        url: String,
        connections: Int = 8,
        ifMissing: MissingDatabase = .refuse
    ) async throws(RelyingPartyError) {
        try await self.init(
            url: url,
            connections: connections,
            patience: PostgreSQLConnection.patience,
            ifMissing: ifMissing
        )
    }

    init(
        url: String,
        connections: Int,
        patience: Int,
        ifMissing: MissingDatabase
    ) async throws(RelyingPartyError) {
        pool = PostgreSQLPool(url: url, size: connections, patience: patience)
        try await pool.performRepeatably { connection throws(PostgreSQLFailure) in
            try PostgreSQLSchema.prepare(&connection, ifMissing)
        }
    }

    /// The operations that wait for a connection of the pool.
    public var waiting: StoreWait { pool.waiting }
}
