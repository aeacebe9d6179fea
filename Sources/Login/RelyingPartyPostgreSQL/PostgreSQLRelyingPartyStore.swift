// SPDX-License-Identifier: Apache-2.0

public import RelyingParty

/// A store in a PostgreSQL database, for several instances behind one balancer.
///
/// Each operation is one statement or one transaction. What is acknowledged is on the disk where the server's
/// `synchronous_commit` says so, as it does unless it was changed; counts of tries are not, nor are challenges that are
/// only given out, nor what a sign-in notes last: the time, and its line of the audit log. After a failover to a replica
/// that lagged behind, an answered challenge may be back for as long as it lives: replicate synchronously.
///
/// A server that does not answer within seconds is given up with `store`, and so is one that is lost after it was asked for
/// a change, which then may have happened or not. Questions are asked again, once.
public final class PostgreSQLRelyingPartyStore: Sendable {
    let pool: PostgreSQLPool

    /// Connects; the tables are in a schema named `whorl_login`.
    ///
    /// A schema of that name that is another program's, or another version's, is refused and stays as it is. The thread
    /// of the caller is not blocked.
    ///
    /// - Parameters:
    ///   - url: `postgres://…`, as libpq reads it. A password is better in `~/.pgpass`, where no list of processes shows
    ///     it.
    ///   - connections: The most connections; each has a thread of its own.
    ///   - ifMissing: Whether the tables are made where there are none.
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
}
