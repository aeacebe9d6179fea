// SPDX-License-Identifier: Apache-2.0

package import GRDB
import StateStore

/// The tries of one profile on one class of readers, on disk, in the table `attempts`.
///
/// Its functions work inside a transaction of the caller, which is IMMEDIATE: nobody reads a record, changes
/// it and writes it back while another does the same.
package struct AttemptLedger: Sendable {
    /// Whose tries.
    package let profile: String
    /// On which readers.
    package let readers: ReaderClass

    /// Looks after the tries of a profile on a class of readers.
    package init(profile: String, readers: ReaderClass) {
        self.profile = profile
        self.readers = readers
    }

    /// Those of a profile on every class of readers.
    package static func all(of profile: String) -> [AttemptLedger] {
        ReaderClass.allCases.map { AttemptLedger(profile: profile, readers: $0) }
    }

    /// The record as it is on disk; a fresh one where nobody has tried yet.
    package func record(in db: Database) throws -> AttemptRecord {
        let statement = try db.cachedStatement(
            sql: """
                SELECT failures, total_failures, lockouts, pending, locked_until_boot, locked_until_wall, boot_id
                FROM attempts WHERE profile = ? AND reader_class = ?
                """
        )
        let row = try Row.fetchOne(statement, arguments: [profile, readers.rawValue])
        guard let row else { return .fresh }
        let lockouts: Int = try row.column(2)
        return AttemptRecord(
            failures: try row.column(0),
            totalFailures: try row.column(1),
            lockouts: lockouts,
            isPending: try row.column(3),
            lockedAt: try AttemptLedger.beginning(of: row, lockouts: lockouts)
        )
    }

    /// Puts a record on disk in place of the one that is there.
    package func save(_ record: AttemptRecord, in db: Database) throws {
        let end = record.lockedAt.map { ($0, AttemptRecord.lockLength(number: record.lockouts)) }
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO attempts (
                    profile, reader_class, failures, total_failures, lockouts, pending,
                    locked_until_boot, locked_until_wall, boot_id
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            profile, readers.rawValue, record.failures, record.totalFailures, record.lockouts,
            record.isPending,
            end.map { seconds($0.sinceBoot + $1) }, end.map { seconds($0.wall + $1) },
            end.map { $0.0.bootID },
        ])
    }

    /// Does to the record on disk what ``AttemptRecord/reset()`` does to a value, in one statement: it stands between a
    /// match and its answer.
    package func reset(in db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE attempts SET failures = 0, lockouts = 0, pending = 0,
                    locked_until_boot = NULL, locked_until_wall = NULL, boot_id = NULL
                WHERE profile = ? AND reader_class = ?
                """
        ).execute(arguments: [profile, readers.rawValue])
    }

    /// The table holds when a lock ends, by both clocks, and the record when it began: what has passed since
    /// then is what counts after a restart.
    private static func beginning(of row: Row, lockouts: Int) throws -> Moment? {
        guard let boot: Double = try row.optionalColumn(4), let wall: Double = try row.optionalColumn(5),
            let bootID: String = try row.optionalColumn(6),
            // A time that no clock shows tells nothing: the lock has no known beginning, and so no end yet.
            boot.isFinite, wall.isFinite
        else { return nil }
        let length = AttemptRecord.lockLength(number: lockouts)
        return Moment(
            bootID: bootID,
            sinceBoot: milliseconds(boot) - length,
            wall: milliseconds(wall) - length
        )
    }
}

/// Milliseconds as the database's seconds.
package func seconds(_ milliseconds: Int64) -> Double { Double(milliseconds) / 1000 }

/// The database's seconds as milliseconds; what no clock shows is cut off.
package func milliseconds(_ seconds: Double) -> Int64 {
    guard seconds.isFinite else { return 0 }
    return Int64(min(max(seconds * 1000, -0x1p53), 0x1p53).rounded())
}
