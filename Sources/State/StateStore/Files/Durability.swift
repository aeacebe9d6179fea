// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization

/// What a write survives once it has returned.
package enum Durability: Sendable {
    /// A power cut: the write-ahead log is synced before the write returns (`PRAGMA synchronous = FULL`).
    case full
    /// The process being killed, not a power cut (`PRAGMA synchronous = NORMAL`). The database stays consistent
    /// either way; the last such writes may be lost.
    case relaxed
}

/// What the writes of one connection survive: a setting of the connection, which cannot be changed within a
/// transaction.
final class DurabilitySetting: Sendable {
    /// `nil` before it was set: then it is SQLite's own choice.
    private let current = Mutex<Durability?>(nil)

    func change(to durability: Durability, _ db: Database) throws {
        try current.withLock { current in
            guard current != durability else { return }
            current = nil
            switch durability {
            case .full: try db.execute(sql: "PRAGMA synchronous = FULL")
            case .relaxed: try db.execute(sql: "PRAGMA synchronous = NORMAL")
            }
            current = durability
        }
    }
}
