// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// A connection to a database that one function at a time has, in the order in which they asked.
package final class DatabaseQueue: @unchecked Sendable {
    private let queue = DispatchQueue(label: "whorl.state")
    /// Used on the queue alone.
    private let database: Database

    /// Opens a file, which exists.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - isReadOnly: Whether nothing can be written through this connection.
    ///   - busyTimeout: The time that a statement waits for another connection's to end, in milliseconds.
    /// - Throws: SQLite's error, such as `SQLITE_CANTOPEN`.
    package init(path: String, isReadOnly: Bool = false, busyTimeout: Int32) throws(DatabaseError) {
        database = try Database(path: path, isReadOnly: isReadOnly, busyTimeout: busyTimeout)
    }

    /// Runs `body` on the caller's thread when its turn has come.
    ///
    /// It must not be called from within an access.
    package func access<Value>(_ body: (Database) throws -> Value) rethrows -> Value {
        try queue.sync { try body(database) }
    }

    /// Runs `body` on another thread when its turn has come.
    package func accessLater(_ body: @escaping @Sendable (Database) -> Void) {
        queue.async { body(self.database) }
    }

    /// Closes the connection, which must not be used afterwards.
    package func close() throws(DatabaseError) {
        let result = access { database in
            Result<Void, DatabaseError> { () throws(DatabaseError) in try database.close() }
        }
        try result.get()
    }
}
