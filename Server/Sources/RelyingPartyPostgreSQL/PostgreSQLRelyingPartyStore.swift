// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import RelyingParty

/// A store in a PostgreSQL database, for several instances behind a load balancer.
///
/// Each operation is one statement or one transaction. An acknowledged change is on disk if the server's
/// `synchronous_commit` requires it, which is the default. The exceptions are attempt counters, and the last step of a
/// sign-in whose challenge was already used up. After a failover to a replica that lagged behind, a used challenge may
/// be valid again for the rest of its lifetime: use synchronous replication.
///
/// An operation throws `store` if the server does not reply within seconds. It also does if the connection is lost
/// after a change was requested, which then may or may not have taken effect. Queries are repeated once.
public final class PostgreSQLRelyingPartyStore: Sendable {
    let pool: PostgreSQLPool

    /// Connects; the tables are in a schema named `whorl_login`.
    ///
    /// A schema with that name that belongs to another program or version is refused, and stays unchanged. The caller's
    /// thread is not blocked.
    ///
    /// - Parameters:
    ///   - url: `postgres://…`, as parsed by libpq. Store the password in `~/.pgpass`, so that process listings do not
    ///     show it.
    ///   - connections: The maximum number of connections, each with its own thread.
    ///   - ifMissing: Whether missing tables are created.
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

    /// The operations waiting for a pooled connection.
    public var waiting: StoreWait { pool.waiting }
}

extension PostgreSQLRelyingPartyStore: RelyingPartyStore {
    /// See `RelyingPartyStore.count(_:at:)`.
    public func count(_ bucket: RateBucket, at now: Int) async throws(RelyingPartyError) -> Int? {
        try await pool.perform { connection throws(PostgreSQLFailure) in
            try connection.count(bucket, at: now)
        }
    }

    /// See `RelyingPartyStore.refund(_:at:)`.
    public func refund(_ bucket: RateBucket, at now: Int) async throws(RelyingPartyError) {
        try await pool.perform { connection throws(PostgreSQLFailure) in
            _ = try connection.run(
                """
                UPDATE whorl_login.tries SET count = count - 1
                    WHERE bucket = $1 AND ends_at > $2 AND count > 0
                """,
                [.text(bucket.key), .int(now)]
            )
        }
    }

    /// See `RelyingPartyStore.challengeKey()`.
    public func challengeKey() async throws(RelyingPartyError) -> Data {
        guard let key = try await document(ChallengeKey.document) else {
            throw RelyingPartyError(.store, cause: "PostgreSQL: there is no key of challenges")
        }
        return key
    }

    /// See `RelyingPartyStore.use(_:audit:)`.
    public func use(_ nonce: Nonce, audit: AuditEntry?) async throws(RelyingPartyError) -> Bool {
        try await pool.perform { connection throws(PostgreSQLFailure) in
            guard let audit else { return try connection.use(nonce) }
            return try connection.run(
                "WITH used AS (\(PostgreSQLStatements.use("$7"))) \(PostgreSQLAudit.insert(from: "used"))",
                PostgreSQLAudit.values(audit) + [.bytes(nonce.bytes)]
            ).changes == 1
        }
    }

    /// See `RelyingPartyStore.signIn(_:using:audit:)`.
    ///
    /// It uses one statement and one commit.
    public func signIn(
        _ device: RegisteredDevice,
        using nonce: Nonce?,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> SigningIn {
        try await pool.perform { connection throws(PostgreSQLFailure) in
            let values = PostgreSQLAudit.values(audit) + [.int(device.lastUsedAt), .text(device.keyID)]
            guard let nonce else {
                return try connection.run(PostgreSQLStatements.markUsed, values).changes == 1
                    ? .signedIn : .unknownKey
            }
            let rows = try connection.run(PostgreSQLStatements.signIn, values + [.bytes(nonce.bytes)])
            guard rows.bool(0, 0) == true else { return .challengeUsed }
            return rows.bool(0, 1) == true ? .signedIn : .unknownKey
        }
    }
}

extension PostgreSQLConnection {
    /// Uses up a challenge; returns `false` if it was used before.
    mutating func use(_ nonce: Nonce) throws(PostgreSQLFailure) -> Bool {
        try run(PostgreSQLStatements.use("$1"), [.bytes(nonce.bytes)]).changes == 1
    }

    /// Counts an attempt in a bucket.
    ///
    /// - Returns: The seconds to wait if the limit is reached.
    fileprivate mutating func count(_ bucket: RateBucket, at now: Int) throws(PostgreSQLFailure) -> Int? {
        let end = now + bucket.seconds
        // A window that ends later than the limit allows was written before a clock was set back, or with longer
        // windows.
        let rows = try run(
            """
            INSERT INTO whorl_login.tries AS old (bucket, ends_at, count) VALUES ($1, $3, 1)
                ON CONFLICT (bucket) DO UPDATE SET
                    ends_at = CASE WHEN old.ends_at > $2 AND old.ends_at <= $3 THEN old.ends_at ELSE $3 END,
                    count = CASE WHEN old.ends_at > $2 AND old.ends_at <= $3 THEN old.count + 1 ELSE 1 END
                RETURNING ends_at, count
            """,
            [.text(bucket.key), .int(now), .int(end)]
        )
        guard let endsAt = rows.int(0, 0), let count = rows.int(0, 1) else {
            throw PostgreSQLFailure(state: "", text: "a row of tries is damaged")
        }
        return count > bucket.count ? endsAt - now : nil
    }
}

/// The statements executed at each sign-in; a test checks their query plans.
enum PostgreSQLStatements {
    /// The columns of `devices`, by name, because an instance of another version may add some while this one is
    /// running.
    static let deviceColumns = [
        #""user""#, "device", "key_id", "key", "name", "enabled_at", "last_used_at", "domain_state",
        "approved", "attested",
    ].map { "devices." + $0 }.joined(separator: ", ")

    /// The statement that reads a device.
    static let device = """
        SELECT \(deviceColumns) FROM whorl_login.devices WHERE "user" = $1 AND device = $2
        """

    /// Returns the statement that uses up the challenge with a nonce; it returns a row if it was not used before.
    static func use(_ nonce: String) -> String {
        "INSERT INTO whorl_login.used_nonces (nonce) VALUES (\(nonce)) ON CONFLICT DO NOTHING RETURNING 1"
    }

    /// The statement that uses up a challenge, marks the device as used, and writes an entry; it returns whether the
    /// first two were done.
    static let signIn = """
        WITH used AS (\(use("$9"))), marked AS (
            UPDATE whorl_login.devices SET last_used_at = $7
                WHERE "user" = $3 AND device = $4 AND key_id = $8 AND EXISTS (SELECT 1 FROM used)
                RETURNING 1
        ), written AS (\(PostgreSQLAudit.insert(from: "marked")))
        SELECT EXISTS (SELECT 1 FROM used), EXISTS (SELECT 1 FROM marked)
        """

    /// The statement of a sign-in whose challenge was already used up; its commit need not wait for the disk.
    static let markUsed = """
        WITH used AS (
            UPDATE whorl_login.devices SET last_used_at = $7
                WHERE "user" = $3 AND device = $4 AND key_id = $8
                RETURNING set_config('synchronous_commit', 'off', true)
        ) \(PostgreSQLAudit.insert(from: "used"))
        """
}
