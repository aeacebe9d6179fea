// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import FoundationEssentials
package import WhorlSQLite
package import WhorlStateStore
package import WhorlService
internal import WhorlSupport

/// The log of events that concern the owner, which is stored in the table `audit` with the newest entry last.
///
/// Each ``AuditKind`` in a profile has a separate limit, so that many lines of one kind do not displace those of other
/// kinds. Repeated refusals and repeated changes of items share one line with a count, and so do a program's choices
/// for itself.
///
/// The log does not contain templates or images. Because a program that can write to the state directory can change the
/// log, it only informs the owner and does not prove anything to others.
package struct AuditLog: Sendable {
    private let database: StateDatabase

    /// Creates a log in a database.
    package init(database: StateDatabase) { self.database = database }

    /// Returns the newest lines, beginning with the newest.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of lines; if less than 1, no lines are returned.
    ///   - before: The ID of a line; only older ones are returned. `nil` begins with the newest.
    ///   - profile: The profile; `nil` means all profiles.
    /// - Returns: At most `limit` lines.
    /// - Throws: `storeFailed`.
    package func entries(
        limit: Int,
        before: Int64? = nil,
        profile: String? = nil
    ) async throws(ServiceError) -> [AuditEntry] {
        try await database.read { db in
            try db.all(
                sql: """
                    SELECT id, at, profile, application, event, outcome, finger, reader, detail, asker, repeats
                    FROM audit
                    WHERE (?1 IS NULL OR profile = ?1) AND (?3 IS NULL OR id < ?3) ORDER BY id DESC LIMIT ?2
                    """,
                arguments: [profile, max(0, limit), before],
                AuditLog.entry
            )
        }
    }

    /// Adds a line.
    ///
    /// The line survives if the process is killed, but may be lost if the power fails within seconds.
    ///
    /// - Throws: `storeFailed`.
    package func append(_ entry: AuditEntry) async throws(ServiceError) {
        try await database.write(.relaxed) { try AuditLog.append(entry, in: $0) }
    }

    /// Adds a line in the same transaction as the event that it describes.
    package static func append(_ entry: AuditEntry, in db: Database) throws {
        let kind = AuditKind(of: entry)
        if kind.countsRepeats, let same = try lastLine(of: kind, entry.profile, db), entry.repeats(same) {
            try db.execute(
                sql: "UPDATE audit SET at = ?, repeats = repeats + 1 WHERE id = ?",
                arguments: [entry.at.timeIntervalSince1970, same.id]
            )
            return
        }
        let earlier = kind.keepsLatest ? try takeLines(of: kind, by: entry, db) : 0
        try db.execute(
            sql: """
                INSERT INTO audit
                    (at, profile, application, event, outcome, finger, reader, detail, asker, kind, repeats)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                entry.at.timeIntervalSince1970, entry.profile, entry.application, entry.event.rawValue,
                entry.outcome, entry.finger.map { Int($0.number) }, entry.reader?.rawValue, entry.detail,
                try entry.asker.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) },
                kind.rawValue, earlier + 1,
            ]
        )
        try db.execute(
            sql: """
                DELETE FROM audit WHERE profile = ?1 AND kind = ?2 AND id <=
                    (SELECT id FROM audit WHERE profile = ?1 AND kind = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3)
                """,
            arguments: [entry.profile, kind.rawValue, kind.limit]
        )
    }

    /// Deletes the lines of a kind that concern the same program as another line.
    ///
    /// - Returns: The number of events that the deleted lines counted.
    private static func takeLines(of kind: AuditKind, by entry: AuditEntry, _ db: Database) throws -> Int {
        let same = "profile = ? AND kind = ? AND application = ?"
        let arguments: [any DatabaseValue] = [entry.profile, kind.rawValue, entry.application]
        let count: Int? = try db.value(
            sql: "SELECT coalesce(sum(repeats), 0) FROM audit WHERE \(same)",
            arguments: arguments
        )
        try db.execute(sql: "DELETE FROM audit WHERE \(same)", arguments: arguments)
        return count ?? 0
    }

    /// Returns the number of failed attempts since the last line of a kind.
    static func failedTries(since kind: AuditKind, of profile: String, _ db: Database) throws -> Int {
        try db.value(
            sql: """
                SELECT count(*) FROM audit WHERE profile = ?1 AND kind = ?2
                    AND (event = 'failedTry' OR event = 'passcode' AND outcome = 'wrong')
                    AND id > coalesce((SELECT max(id) FROM audit WHERE profile = ?1 AND kind = ?3), 0)
                """,
            arguments: [profile, AuditKind.attempt.rawValue, kind.rawValue]
        ) ?? 0
    }

    private static func lastLine(
        of kind: AuditKind,
        _ profile: String,
        _ db: Database
    ) throws -> AuditEntry? {
        try db.first(
            sql: """
                SELECT id, at, profile, application, event, outcome, finger, reader, detail, asker, repeats
                FROM audit WHERE profile = ? AND kind = ? ORDER BY id DESC LIMIT 1
                """,
            arguments: [profile, kind.rawValue],
            entry
        )
    }

    static func entry(_ row: borrowing Row) throws -> AuditEntry {
        let number: Int? = try row.optionalColumn(6)
        let reader: String? = try row.optionalColumn(7)
        let asker: String? = try row.optionalColumn(9)
        return AuditEntry(
            id: try row.column(0),
            at: Date(timeIntervalSince1970: try row.column(1)),
            profile: try row.column(2),
            application: try row.column(3),
            event: AuditEntry.Event(rawValue: try row.column(4)),
            outcome: try row.column(5),
            finger: number.flatMap { number in Finger.allCases.first { Int($0.number) == number } },
            reader: reader.map(ReaderID.init(rawValue:)),
            detail: try row.optionalColumn(8),
            // Anything written by a later version that this one cannot read is left out; the line itself stays.
            asker: asker.flatMap { try? JSONDecoder().decode(Asker.self, from: Data($0.utf8)) },
            repeats: try row.column(10)
        )
    }
}
