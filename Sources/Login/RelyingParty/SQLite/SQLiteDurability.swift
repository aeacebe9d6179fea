// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Synchronization

/// The durability of commits on one connection.
final class SQLiteDurability: Sendable {
    enum Level: Sendable {
        /// A commit is on the disk.
        case full
        /// A commit survives the end of the process; a power failure may lose it.
        case process
    }

    private let current = Mutex<Level?>(nil)

    /// Changes the level; is called between transactions, on the connection's own thread.
    func change(to level: Level, _ db: Database) throws {
        guard current.withLock({ $0 }) != level else { return }
        switch level {
        case .full: try db.execute(sql: "PRAGMA synchronous = FULL")
        case .process: try db.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        current.withLock { $0 = level }
    }
}
