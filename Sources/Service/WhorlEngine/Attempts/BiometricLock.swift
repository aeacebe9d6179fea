// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The lock on the fingers of a profile, over all kinds of readers.
enum BiometricLock {
    /// Lifts the lock, as a verified passcode does: sets the counted failures to zero and ends the wait.
    ///
    /// A scan that is going on stays reserved.
    ///
    /// - Returns: Whether fingers were locked on any kind of reader.
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
