// SPDX-License-Identifier: Apache-2.0

package import GRDB

/// The same accesses for a caller who waits on its thread, without another thread in between.
///
/// They block the caller for as long as the work of others on this connection takes. They must not be called from
/// within an access.
extension StateDatabase {
    /// Runs `body`, which does not change the database; each statement sees a consistent state of it.
    package func readBlocking<Value>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
        try Result(failingAt: directory.databasePath) { try queue.unsafeRead(body) }.get()
    }

    /// As ``transaction(_:_:)``.
    package func transactionBlocking<Value, Failure: Error>(
        _ durability: Durability = .full,
        _ body: (Database) throws -> Result<Value, Failure>
    ) throws(StateError) -> Result<Value, Failure> {
        try Result(failingAt: directory.databasePath) {
            try queue.writeWithoutTransaction { db in
                try setting.change(to: durability, db)
                defer { try? setting.change(to: .relaxed, db) }
                return try db.commit(body)
            }
        }.get()
    }
}
