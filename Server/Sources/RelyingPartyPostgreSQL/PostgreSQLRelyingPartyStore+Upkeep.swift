// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion
public import RelyingParty

extension PostgreSQLRelyingPartyStore {
    /// See `RelyingPartyStore.record(_:)`.
    public func record(_ entry: AuditEntry) async throws(RelyingPartyError) {
        try await pool.perform { connection throws(PostgreSQLFailure) in
            try PostgreSQLAudit.write(entry, &connection)
        }
    }

    /// See `RelyingPartyStore.audit(of:atMost:)`.
    public func audit(
        of user: LoginName?,
        atMost count: Int
    ) async throws(RelyingPartyError) -> [AuditEntry] {
        try await pool.performRepeatably { connection throws(PostgreSQLFailure) in
            let columns = #"SELECT at, event, "user", device, address, reason FROM whorl_login.audit"#
            let rows =
                if let user {
                    try connection.run(
                        columns + #" WHERE "user" = $1 ORDER BY id DESC LIMIT $2"#,
                        [.text(user.text), .int(count)]
                    )
                } else {
                    try connection.run(columns + " ORDER BY id DESC LIMIT $1", [.int(count)])
                }
            return try PostgreSQLAudit.entries(rows)
        }
    }

    /// See `RelyingPartyStore.purge(keeping:of:atMost:at:)`.
    ///
    /// Rows that another instance is removing are skipped.
    public func purge(
        keeping audit: AuditRetention,
        of user: LoginName?,
        atMost count: Int,
        at now: Int
    ) async throws(RelyingPartyError) -> Bool {
        try await pool.performRepeatably { connection throws(PostgreSQLFailure) in
            let nonces = try connection.run(
                """
                DELETE FROM whorl_login.used_nonces WHERE nonce IN (
                    SELECT nonce FROM whorl_login.used_nonces WHERE nonce < $1
                        LIMIT $2 FOR UPDATE SKIP LOCKED
                )
                """,
                [.bytes(Nonce.removable(at: now)), .int(count)]
            ).changes
            let tries = try connection.run(
                """
                DELETE FROM whorl_login.tries WHERE bucket IN (
                    SELECT bucket FROM whorl_login.tries WHERE ends_at <= $1
                        LIMIT $2 FOR UPDATE SKIP LOCKED
                )
                """,
                [.int(now), .int(count)]
            ).changes
            let old = try connection.run(
                PostgreSQLAudit.purgeOld,
                [.int(now - audit.seconds), .int(count)]
            ).changes
            let refused = try connection.run(
                PostgreSQLAudit.purgeRefusedPasswords,
                [.int(audit.refusedPasswords), .int(count)]
            ).changes
            guard let user else { return max(nonces, tries, old, refused) >= count }
            let ofUser = try connection.run(
                PostgreSQLAudit.purgeOfUser,
                [.text(user.text), .int(audit.perUser), .int(count)]
            ).changes
            return max(nonces, tries, old, refused, ofUser) >= count
        }
    }

    /// See `RelyingPartyStore.isUsed(_:)`.
    public func isUsed(_ nonce: Nonce) async throws(RelyingPartyError) -> Bool {
        try await pool.performRepeatably { connection throws(PostgreSQLFailure) in
            try connection.run(
                "SELECT 1 FROM whorl_login.used_nonces WHERE nonce = $1",
                [.bytes(nonce.bytes)]
            ).count == 1
        }
    }

    /// See `RelyingPartyStore.documentNames(withPrefix:after:atMost:)`.
    public func documentNames(
        withPrefix prefix: String,
        after name: String,
        atMost count: Int
    ) async throws(RelyingPartyError) -> [String] {
        try await pool.performRepeatably { connection throws(PostgreSQLFailure) in
            let rows = try connection.run(
                """
                SELECT name FROM whorl_login.documents WHERE name >= $1 AND name > $2
                    AND starts_with(name, $1) ORDER BY name LIMIT $3
                """,
                [.text(prefix), .text(name), .int(count)]
            )
            var names: [String] = []
            for row in 0..<rows.count {
                guard let name = rows.text(row, 0) else {
                    throw PostgreSQLFailure(state: "", text: "a row of documents is damaged")
                }
                names.append(name)
            }
            return names
        }
    }

    /// See `RelyingPartyStore.document(_:)`.
    public func document(_ name: String) async throws(RelyingPartyError) -> Data? {
        try await pool.performRepeatably { connection throws(PostgreSQLFailure) in
            try connection.document(name)
        }
    }

    /// See `RelyingPartyStore.setDocument(_:to:ifWas:)`.
    ///
    /// If the reply was lost but the document has the new content, it was written.
    public func setDocument(
        _ name: String,
        to data: Data?,
        ifWas old: Data?
    ) async throws(RelyingPartyError) -> Bool {
        let afterLoss: PostgreSQLPool.Body<Bool> = { connection throws(PostgreSQLFailure) in
            guard try connection.document(name) == data else {
                throw PostgreSQLFailure(state: "", text: "the connection was lost")
            }
            return true
        }
        return try await pool.perform(afterLoss: afterLoss) { connection throws(PostgreSQLFailure) in
            let name = PostgreSQLValue.text(name)
            switch (old, data) {
            case (nil, nil):
                return try connection.run("SELECT 1 FROM whorl_login.documents WHERE name = $1", [name])
                    .count == 0
            case (nil, let data?):
                return try connection.run(
                    "INSERT INTO whorl_login.documents (name, data) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                    [name, .bytes(data)]
                ).changes == 1
            case (let old?, nil):
                return try connection.run(
                    "DELETE FROM whorl_login.documents WHERE name = $1 AND data = $2",
                    [name, .bytes(old)]
                ).changes == 1
            case (let old?, let data?):
                return try connection.run(
                    "UPDATE whorl_login.documents SET data = $3 WHERE name = $1 AND data = $2",
                    [name, .bytes(old), .bytes(data)]
                ).changes == 1
            }
        }
    }
}

extension PostgreSQLConnection {
    fileprivate mutating func document(_ name: String) throws(PostgreSQLFailure) -> Data? {
        try run("SELECT data FROM whorl_login.documents WHERE name = $1", [.text(name)]).bytes(0, 0)
    }
}

/// The statements of the audit log.
enum PostgreSQLAudit {
    /// Returns the part of a statement that writes the entry of `values`, once for each row of another part.
    static func insert(from source: String) -> String {
        """
        INSERT INTO whorl_login.audit (at, event, "user", device, address, reason)
            SELECT $1, $2, $3, $4, $5, $6 FROM \(source)
        """
    }

    /// Returns the values of an entry, `$1` to `$6`.
    static func values(_ entry: AuditEntry) -> [PostgreSQLValue] {
        [
            .int(entry.at), .text(entry.event.rawValue), .text(entry.userText),
            .text(entry.device?.text ?? ""), .text(entry.address), .text(entry.reason),
        ]
    }

    /// Removes entries older than a given time, which come first.
    static let purgeOld = """
        DELETE FROM whorl_login.audit WHERE at < $1 AND id IN (
            SELECT id FROM whorl_login.audit ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
        )
        """

    /// Removes the oldest entries of refused passwords, which outsiders can cause, beyond a given number.
    static let purgeRefusedPasswords = """
        DELETE FROM whorl_login.audit WHERE id IN (
            SELECT id FROM whorl_login.audit WHERE event = 'password_refused'
                AND id <= (
                    SELECT id FROM whorl_login.audit WHERE event = 'password_refused'
                        ORDER BY id DESC LIMIT 1 OFFSET $1
                )
                ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
        )
        """

    /// Removes a user's oldest other entries beyond a given number.
    static let purgeOfUser = """
        DELETE FROM whorl_login.audit WHERE id IN (
            SELECT id FROM whorl_login.audit WHERE "user" = $1 AND event <> 'password_refused'
                AND id <= (
                    SELECT id FROM whorl_login.audit WHERE "user" = $1 AND event <> 'password_refused'
                        ORDER BY id DESC LIMIT 1 OFFSET $2
                )
                ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED
        )
        """

    static func write(
        _ entry: AuditEntry,
        _ connection: inout PostgreSQLConnection
    ) throws(PostgreSQLFailure) {
        _ = try connection.run(insert(from: "(VALUES (1)) AS once"), values(entry))
    }

    static func entries(_ rows: borrowing PostgreSQLRows) throws(PostgreSQLFailure) -> [AuditEntry] {
        var entries: [AuditEntry] = []
        for row in 0..<rows.count {
            guard let at = rows.int(row, 0), let event = rows.text(row, 1).flatMap(AuditEntry.Event.init),
                let user = rows.text(row, 2), user.isEmpty || LoginName(user) != nil,
                let device = rows.text(row, 3),
                let address = rows.text(row, 4)
            else { throw PostgreSQLFailure(state: "", text: "a row of audit is damaged") }
            entries.append(
                AuditEntry(
                    at: at,
                    event: event,
                    user: LoginName(user),
                    device: LoginName(device),
                    address: address,
                    reason: rows.text(row, 5)
                )
            )
        }
        return entries
    }
}
