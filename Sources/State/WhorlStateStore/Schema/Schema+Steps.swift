// SPDX-License-Identifier: Apache-2.0

import WhorlSQLite

extension Schema {
    /// A change to the tables from one version to the next.
    typealias Step = @Sendable (Database) throws -> Void

    /// Updates an older database in one transaction.
    ///
    /// The database has either the old version or the latest one, even if the process is killed.
    static func update(_ queue: DatabaseQueue, by steps: [Step] = Schema.steps) throws {
        try queue.access { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
            try db.transaction { db in
                // Read again, because another process may have been faster.
                let found = try db.value(sql: "PRAGMA user_version") ?? 0
                guard (1...steps.count).contains(found) else { return }
                for step in steps.dropFirst(found - 1) { try step(db) }
                try db.execute(sql: "PRAGMA user_version = \(steps.count + 1)")
            }
        }
    }
}
