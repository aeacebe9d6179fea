// SPDX-License-Identifier: Apache-2.0

package import GRDB
package import WhorlService

/// The same accesses for a caller that waits on its own thread, without another thread in between.
///
/// They block the caller while other work on this connection runs. They must not be called from within an access.
extension StateDatabase {
    /// Runs `body`, which must not change the database; each statement sees a consistent state.
    package func readBlocking<Value>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
        try Result(failingAt: directory.databasePath) { try queue.unsafeRead(body) }.get()
    }

    /// Runs `body` like ``transaction(_:_:)``.
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
