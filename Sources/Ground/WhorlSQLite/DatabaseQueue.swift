// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// A database connection that only one function at a time can use, in the order of the calls.
package final class DatabaseQueue: @unchecked Sendable {
    private let queue = DispatchQueue(label: "whorl.state")
    /// The connection, which is used only on the queue.
    private let database: Database

    /// Opens a file, which must exist.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - isReadOnly: Whether this connection cannot write to the file.
    ///   - busyTimeout: The maximum time that a statement waits for those of other connections, in milliseconds.
    /// - Throws: SQLite's error, such as `SQLITE_CANTOPEN`.
    package init(path: String, isReadOnly: Bool = false, busyTimeout: Int32) throws(DatabaseError) {
        database = try Database(path: path, isReadOnly: isReadOnly, busyTimeout: busyTimeout)
    }

    /// Runs `body` on the caller's thread when it is its turn.
    ///
    /// Do not call it from within `body`.
    package func access<Value>(_ body: (Database) throws -> Value) rethrows -> Value {
        try queue.sync { try body(database) }
    }

    /// Runs `body` on another thread when it is its turn.
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
