// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Synchronization

/// How sure a commit is of the disk, on one connection.
final class SQLiteDurability: Sendable {
    enum Level: Sendable {
        /// It is on the disk.
        case full
        /// It survives the end of the process; the machine's power may take it.
        case process
    }

    private let current = Mutex<Level?>(nil)

    /// Is called between transactions, on the connection's own thread.
    func change(to level: Level, _ db: Database) throws {
        guard current.withLock({ $0 }) != level else { return }
        switch level {
        case .full: try db.execute(sql: "PRAGMA synchronous = FULL")
        case .process: try db.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        current.withLock { $0 = level }
    }
}
