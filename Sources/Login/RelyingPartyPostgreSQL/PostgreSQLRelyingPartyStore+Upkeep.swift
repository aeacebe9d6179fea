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

    /// See `RelyingPartyStore.purge(keeping:atMost:at:)`.
    ///
    /// Rows that another instance removes at this moment are skipped.
    public func purge(
        keeping auditEntries: Int,
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
            var entries = 0
            for kind in PostgreSQLAudit.kinds {
                entries = max(
                    entries,
                    try connection.run(PostgreSQLAudit.purge(kind), [.int(auditEntries), .int(count)]).changes
                )
            }
            return max(nonces, tries, entries) >= count
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
    /// If the reply was lost, and the document has the new content, it was written.
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
    /// Returns the part of a statement that writes the line of `values`, once for each row of another part.
    static func insert(from source: String) -> String {
        """
        INSERT INTO whorl_login.audit (at, event, "user", device, address, reason)
            SELECT $1, $2, $3, $4, $5, $6 FROM \(source)
        """
    }

    /// Returns the values of a line, `$1` to `$6`.
    static func values(_ entry: AuditEntry) -> [PostgreSQLValue] {
        [
            .int(entry.at), .text(entry.event.rawValue), .text(entry.userText),
            .text(entry.device?.text ?? ""), .text(entry.address), .text(entry.reason),
        ]
    }

    /// The two kinds of audit lines, those that strangers can cause and all others: each has its index.
    static let kinds = ["event = 'password_refused'", "event <> 'password_refused'"]

    /// Returns the statement that removes the oldest lines of a kind: it keeps a given number, and removes at most a
    /// given number.
    static func purge(_ kind: String) -> String {
        """
        DELETE FROM whorl_login.audit WHERE id IN (
            SELECT id FROM whorl_login.audit WHERE \(kind)
                AND id <= (
                    SELECT id FROM whorl_login.audit WHERE \(kind) ORDER BY id DESC LIMIT 1 OFFSET $1
                )
                ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
        )
        """
    }

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
