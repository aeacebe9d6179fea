// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import LoginAssertion
public import RelyingParty

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

    /// See `RelyingPartyStore.issue(_:address:device:at:)`.
    ///
    /// Counting is a statement of its own, so that the row of an address that many clients share is locked only for
    /// that statement, and not until a challenge is on the disk.
    public func issue(
        _ challenge: ChallengeRecord,
        address: RateBucket?,
        device: RateBucket?,
        at now: Int
    ) async throws(RelyingPartyError) -> Issue {
        try await pool.performRepeatably { connection throws(PostgreSQLFailure) in
            if let wait = try connection.count(address, at: now) { return .tooMany(retryAfter: wait) }
            if let wait = try connection.count(device, at: now) { return .tooMany(retryAfter: wait) }
            // A challenge that a crash loses was never issued, so its commit need not wait for the disk.
            _ = try connection.run(
                """
                INSERT INTO whorl_login.challenges (digest, "user", device, use, expires_at)
                    SELECT $1, $2, $3, $4, $5 FROM set_config('synchronous_commit', 'off', true)
                    ON CONFLICT ("user", device, use)
                    DO UPDATE SET digest = excluded.digest, expires_at = excluded.expires_at
                """,
                [
                    .bytes(challenge.digest), .text(challenge.user.text),
                    .text(challenge.device?.text ?? ""), .text(challenge.use.rawValue),
                    .int(challenge.expiresAt),
                ]
            )
            return .issued
        }
    }

    /// See `RelyingPartyStore.take(_:address:at:)`.
    public func take(
        _ digest: Data,
        address: RateBucket?,
        at now: Int
    ) async throws(RelyingPartyError) -> Taken {
        try await pool.performRepeatably { connection throws(PostgreSQLFailure) in
            if let wait = try connection.count(address, at: now) { return .tooMany(retryAfter: wait) }
            let rows = try connection.run(
                PostgreSQLStatements.take,
                [.bytes(digest)]
            )
            guard rows.count > 0 else { return .unknown }
            guard let record = ChallengeRecord(digest: digest, rows) else {
                throw PostgreSQLFailure(state: "", text: "a row of challenges is damaged")
            }
            // If the user has no such device, the columns of the device are NULL.
            guard rows.text(0, 4) != nil else { return .taken(record, []) }
            return .taken(record, try rows.devices(from: 4))
        }
    }
}

extension PostgreSQLConnection {
    /// Counts a try of a bucket.
    ///
    /// - Returns: The seconds to wait if the limit is reached.
    fileprivate mutating func count(_ bucket: RateBucket?, at now: Int) throws(PostgreSQLFailure) -> Int? {
        guard let bucket else { return nil }
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

extension ChallengeRecord {
    fileprivate init?(digest: Data, _ rows: borrowing PostgreSQLRows) {
        guard let user = rows.text(0, 0).flatMap(LoginName.init), let device = rows.text(0, 1),
            let use = rows.text(0, 2).flatMap(ChallengeUse.init), let expiresAt = rows.int(0, 3),
            device.isEmpty || LoginName(device) != nil
        else { return nil }
        self.init(digest: digest, user: user, device: LoginName(device), use: use, expiresAt: expiresAt)
    }
}

/// The statements of each sign-in that read devices; a test checks their query plans.
enum PostgreSQLStatements {
    /// The columns of `devices`, by name: an instance of another version may add some while this one runs.
    static let deviceColumns = [
        #""user""#, "device", "key_id", "key", "name", "enabled_at", "last_used_at", "domain_state",
        "approved",
    ].map { "devices." + $0 }.joined(separator: ", ")

    /// The statement that takes a challenge, and returns it once for each device that may answer it, or with NULLs.
    static let take = """
        WITH taken AS (
            DELETE FROM whorl_login.challenges WHERE digest = $1 RETURNING "user", device, use, expires_at
        )
        SELECT taken."user", taken.device, taken.use, taken.expires_at, \(deviceColumns)
            FROM taken LEFT JOIN whorl_login.devices ON devices."user" = taken."user"
                AND (taken.device = '' OR devices.device = taken.device)
            ORDER BY devices.enabled_at, devices.device
        """

    static let markUsed = """
        WITH used AS (
            UPDATE whorl_login.devices SET last_used_at = $7
                WHERE "user" = $3 AND device = $4 AND key_id = $8
                RETURNING set_config('synchronous_commit', 'off', true)
        ) \(PostgreSQLAudit.insert(from: "used"))
        """
}
