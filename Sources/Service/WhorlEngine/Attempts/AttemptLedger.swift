// SPDX-License-Identifier: Apache-2.0

package import WhorlSQLite
import WhorlStateStore
package import WhorlService

/// The failed attempts of one profile on one class of readers, which are stored in the table `attempts`.
///
/// Call its functions inside an IMMEDIATE transaction, so that two connections cannot read, change and write back the
/// same record at the same time.
package struct AttemptLedger: Sendable {
    /// The profile whose attempts are counted.
    package let profile: String
    /// The class of readers on which attempts are counted.
    package let readers: ReaderClass
    /// The machine's rules.
    package let rules: AttemptRules

    /// Creates a ledger for a profile's attempts on a class of readers.
    package init(profile: String, readers: ReaderClass, rules: AttemptRules = .standard) {
        self.profile = profile
        self.readers = readers
        self.rules = rules
    }

    /// Returns the ledgers of a profile, one for each class of readers.
    package static func all(of profile: String, rules: AttemptRules = .standard) -> [AttemptLedger] {
        ReaderClass.allCases.map { AttemptLedger(profile: profile, readers: $0, rules: rules) }
    }

    /// Returns the record on disk, or ``AttemptRecord/fresh(under:)`` if the profile has none yet.
    package func record(in db: Database) throws -> AttemptRecord {
        let record = try db.first(
            sql: """
                SELECT failures, total_failures, lockouts, pending, locked_until_boot, locked_until_wall, boot_id
                FROM attempts WHERE profile = ? AND reader_class = ?
                """,
            arguments: [profile, readers.rawValue]
        ) { row in
            let lockouts: Int = try row.column(2)
            return AttemptRecord(
                failures: try row.column(0),
                totalFailures: try row.column(1),
                lockouts: lockouts,
                isPending: try row.column(3),
                lockedAt: try beginning(of: row, lockouts: lockouts),
                rules: rules
            )
        }
        return record ?? .fresh(under: rules)
    }

    /// Writes a record to disk, replacing the previous one.
    package func save(_ record: AttemptRecord, in db: Database) throws {
        let end = record.lockedAt.map { ($0, rules.lockLength(number: record.lockouts)) }
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO attempts (
                    profile, reader_class, failures, total_failures, lockouts, pending,
                    locked_until_boot, locked_until_wall, boot_id
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                profile, readers.rawValue, record.failures, record.totalFailures, record.lockouts,
                record.isPending,
                end.map { seconds($0.sinceBoot + $1) }, end.map { seconds($0.wall + $1) },
                end.map { $0.0.bootID },
            ]
        )
    }

    /// Applies ``AttemptRecord/reset()`` to the record on disk.
    ///
    /// This is a single statement, because it runs between a match and the answer to the program.
    package func reset(in db: Database) throws {
        try db.execute(
            sql: """
                UPDATE attempts SET failures = 0, lockouts = 0, pending = 0,
                    locked_until_boot = NULL, locked_until_wall = NULL, boot_id = NULL
                WHERE profile = ? AND reader_class = ?
                """,
            arguments: [profile, readers.rawValue]
        )
    }

    /// Returns the time when a lockout began.
    ///
    /// The table stores its end according to both clocks. After a restart of the machine, only the time since the
    /// restart counts.
    private func beginning(of row: borrowing Row, lockouts: Int) throws -> Moment? {
        guard let boot: Double = try row.optionalColumn(4), let wall: Double = try row.optionalColumn(5),
            let bootID: String = try row.optionalColumn(6),
            // A time that no clock can show is useless: the beginning of the lock is unknown, so it has no end yet.
            boot.isFinite, wall.isFinite
        else { return nil }
        let length = rules.lockLength(number: lockouts)
        return Moment(
            bootID: bootID,
            sinceBoot: milliseconds(boot) - length,
            wall: milliseconds(wall) - length
        )
    }
}

/// Converts milliseconds to the database's seconds.
package func seconds(_ milliseconds: Int64) -> Double { Double(milliseconds) / 1000 }

/// Converts the database's seconds to milliseconds, and clamps values that a clock cannot have.
package func milliseconds(_ seconds: Double) -> Int64 {
    guard seconds.isFinite else { return 0 }
    return Int64(min(max(seconds * 1000, -0x1p53), 0x1p53).rounded())
}

/// The lockout of a profile's fingers, across all classes of readers.
enum BiometricLock {
    /// Ends the lockout after the passcode has been verified: sets the failure count to zero and ends the waiting time.
    ///
    /// The reservation of a scan in progress stays.
    ///
    /// - Returns: Whether fingers were locked out on any class of readers.
    @discardableResult
    static func lift(of profile: String, in db: Database) throws -> Bool {
        var wasLocked = false
        for ledger in AttemptLedger.all(of: profile) {
            var record = try ledger.record(in: db)
            if record.failures >= AttemptRecord.limit { wasLocked = true }
            record.unlock()
            try ledger.save(record, in: db)
        }
        return wasLocked
    }
}
