// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Schema {
    /// The oldest version that can be updated.
    static let oldestVersion: UInt32 = 1

    /// The steps from each version to the next; the first one starts at ``oldestVersion``.
    private static let steps: [@Sendable (Database) throws -> Void] = [
        separateTries,
        { try $0.execute(sql: vaultTables) },
        { try $0.execute(sql: keychainTables) },
        addAskers,
        { try $0.execute(sql: loginTables) },
        addAccess,
        { try $0.execute(sql: auditKinds) },
    ]

    /// Updates an older database in one transaction: it has the old version or this one, never a state in between, even
    /// if the process is killed.
    static func update(_ queue: DatabaseQueue) throws {
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
            try db.inTransaction(.immediate) {
                // Read again, since another process may have been faster.
                let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                guard (Int(oldestVersion)..<Int(version)).contains(found) else { return .commit }
                for step in steps.dropFirst(found - Int(oldestVersion)) { try step(db) }
                try db.execute(sql: "PRAGMA user_version = \(version)")
                return .commit
            }
        }
    }

    /// Updates to version 2: real and simulated readers have separate counts of tries, and a profile may have an epoch.
    ///
    /// A row of version 1 does not tell which kind of reader it came from. It counts for both, so that an update gives
    /// no extra try. Reusable matches are bound to a kind of reader now; older ones are no longer accepted.
    private static let separateTries: @Sendable (Database) throws -> Void = { db in
        let columns = """
            failures, pending, total_failures, lockouts, locked_until_boot, locked_until_wall, boot_id
            """
        try db.execute(
            sql: """
                ALTER TABLE attempts RENAME TO attempts_1;
                \(attempts)
                INSERT INTO attempts (profile, reader_class, \(columns))
                    SELECT profile, 'real', \(columns) FROM attempts_1
                    UNION ALL SELECT profile, 'pretended', \(columns) FROM attempts_1;
                DROP TABLE attempts_1;
                DELETE FROM reuse;
                ALTER TABLE profiles ADD COLUMN epoch BLOB CHECK (epoch IS NULL OR length(epoch) = 16);
                """
        )
    }

    /// Updates to version 7: a print tells who could open its reader; of an earlier one that is unknown.
    private static let addAccess: @Sendable (Database) throws -> Void = { db in
        try db.execute(
            sql: """
                ALTER TABLE prints ADD COLUMN access TEXT NOT NULL DEFAULT 'unknown'
                    CHECK (access IN ('closed', 'open', 'unknown', 'pretended'))
                """
        )
    }

    /// Updates to version 5: the log keeps which program asked, as the system's service knew it.
    private static let addAskers: @Sendable (Database) throws -> Void = { db in
        try db.execute(sql: "ALTER TABLE audit ADD COLUMN asker TEXT")
    }
}
