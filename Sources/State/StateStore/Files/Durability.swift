// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization

/// The event that a write survives after it has returned.
package enum Durability: Sendable {
    /// The write survives a power cut: the write-ahead log is synced before it returns (`PRAGMA synchronous = FULL`).
    case full
    /// The write survives a killed process, but not a power cut (`PRAGMA synchronous = NORMAL`). The database stays
    /// consistent; the last such writes may be lost.
    case relaxed
}

/// The durability of one connection's writes: a setting of the connection, which cannot be changed within a
/// transaction.
final class DurabilitySetting: Sendable {
    /// The present setting; `nil` before it was set, when SQLite's default applies.
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
