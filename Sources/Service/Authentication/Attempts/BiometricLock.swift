// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The lock on the fingers of a profile, over all kinds of readers.
enum BiometricLock {
    /// Lifts it, as a verified passcode does: no failure counts any more, and no wait goes on.
    ///
    /// A scan that goes on meanwhile stays reserved.
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
