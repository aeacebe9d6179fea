// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import GRDB
public import LoginAssertion

extension SQLiteRelyingPartyStore {
    /// See ``RelyingPartyStore/record(_:)``.
    public func record(_ entry: AuditEntry) async throws(RelyingPartyError) {
        try await write(.process) { try $0.write(entry) }
    }

    /// See ``RelyingPartyStore/audit(of:atMost:)``.
    public func audit(of user: LoginName?, atMost count: Int) async throws(RelyingPartyError) -> [AuditEntry]
    {
        try await read { db in
            let rows =
                if let user {
                    try db.fetchAll(
                        "SELECT * FROM audit WHERE user = ? ORDER BY id DESC LIMIT ?",
                        [user.text, count]
                    )
                } else {
                    try db.fetchAll("SELECT * FROM audit ORDER BY id DESC LIMIT ?", [count])
                }
            return try rows.map(AuditEntry.init)
        }
    }

    /// See ``RelyingPartyStore/purge(keeping:of:atMost:at:)``.
    public func purge(
        keeping audit: AuditRetention,
        of user: LoginName?,
        atMost count: Int,
        at now: Int
    ) async throws(RelyingPartyError) -> Bool {
        try await write(.process) { db in
            try db.run(
                """
                DELETE FROM used_nonces WHERE nonce IN
                    (SELECT nonce FROM used_nonces WHERE nonce < ? LIMIT ?)
                """,
                [Nonce.removable(at: now), count]
            )
            let nonces = db.changesCount
            try db.run(
                "DELETE FROM tries WHERE bucket IN (SELECT bucket FROM tries WHERE ends_at <= ? LIMIT ?)",
                [now, count]
            )
            let tries = db.changesCount
            try db.run(SQLiteStatements.purgeOldAudit, [now - audit.seconds, count])
            var entries = db.changesCount
            try db.run(SQLiteStatements.purgeRefusedPasswords, [audit.refusedPasswords, count])
            entries = max(entries, db.changesCount)
            if let user {
                try db.run(SQLiteStatements.purgeAuditOfUser, [user.text, audit.perUser, count])
                entries = max(entries, db.changesCount)
            }
            return max(nonces, tries, entries) >= count
        }
    }

    /// See ``RelyingPartyStore/isUsed(_:)``.
    public func isUsed(_ nonce: Nonce) async throws(RelyingPartyError) -> Bool {
        try await read { db in
            try db.fetchOne(Bool.self, SQLiteStatements.isUsed, [nonce.bytes]) == true
        }
    }

    /// See ``RelyingPartyStore/documentNames(withPrefix:after:atMost:)``.
    public func documentNames(
        withPrefix prefix: String,
        after name: String,
        atMost count: Int
    ) async throws(RelyingPartyError) -> [String] {
        try await read { db in
            try db.fetchAll(
                """
                SELECT name FROM documents WHERE name >= ?1 AND name > ?2
                    AND substr(name, 1, length(?1)) = ?1 ORDER BY name LIMIT ?3
                """,
                [prefix, name, count]
            ).map { $0[0] }
        }
    }

    /// See ``RelyingPartyStore/document(_:)``.
    public func document(_ name: String) async throws(RelyingPartyError) -> Data? {
        try await read { db in try Self.document(name, db) }
    }

    /// See ``RelyingPartyStore/setDocument(_:to:ifWas:)``.
    public func setDocument(
        _ name: String,
        to data: Data?,
        ifWas old: Data?
    ) async throws(RelyingPartyError) -> Bool {
        try await write(.full) { db in
            guard try Self.document(name, db) == old else { return false }
            if let data {
                try db.run(SQLiteStatements.setDocument, [name, data])
            } else {
                try db.run("DELETE FROM documents WHERE name = ?", [name])
            }
            return true
        }
    }

    private static func document(_ name: String, _ db: Database) throws -> Data? {
        try db.fetchOne(Data.self, SQLiteStatements.document, [name])
    }
}

extension Database {
    /// Writes an audit log entry.
    func write(_ entry: AuditEntry) throws {
        try run(
            SQLiteStatements.audit,
            [
                entry.at, entry.event.rawValue, entry.userText, entry.device?.text ?? "", entry.address,
                entry.reason,
            ]
        )
    }
}

extension AuditEntry {
    /// Creates an entry from a row of `audit`.
    fileprivate init(_ row: Row) throws {
        let device: String = row["device"]
        let user: String = row["user"]
        guard user.isEmpty || LoginName(user) != nil, let event = Event(rawValue: row["event"]) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a row of audit")
        }
        self.init(
            at: row["at"],
            event: event,
            user: LoginName(user),
            device: LoginName(device),
            address: row["address"],
            reason: row["reason"]
        )
    }
}
