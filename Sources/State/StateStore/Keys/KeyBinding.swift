// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SecretMemory
import WhorlService

/// The binding of a database to its key.
///
/// The database is created first, then the key, then the key's check value is written to the database. So a crash at
/// any step can be distinguished from a lost key or a lost database.
struct KeyBinding {
    let queue: DatabaseQueue
    let source: any StateKeySource
    let directory: StateDirectory

    /// Returns the keys of this database; `nil` if the first start was interrupted before a key was in use.
    ///
    /// - Throws: `keyMissing`, `keyDamaged`, and the errors of reading.
    func keys() throws(StateError) -> StateKeys? {
        let binding = try run { try queue.read { try Binding($0) } }
        switch binding {
        case .unused: return nil
        case .broken: throw StateError(.keyMissing, path: source.path, cause: "no check value")
        case .bound(let check):
            guard let key = try source.load() else { throw StateError(.keyMissing, path: source.path) }
            let keys = StateKeys(stateKey: key)
            guard keys.check == check else { throw StateError(.keyDamaged, path: source.path) }
            return keys
        }
    }

    /// Returns the keys of this database; creates them at the first start.
    func keysOrNew() throws(StateError) -> StateKeys {
        if let keys = try keys() { return keys }
        let check = StateKeys(stateKey: try source.loadOrCreate()).check
        try run {
            try queue.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    try db.execute(
                        sql: "UPDATE identity SET key_check = ? WHERE id = 1 AND key_check IS NULL",
                        arguments: [check]
                    )
                    return .commit
                }
            }
        }
        // Another process may have bound the database at the same time, necessarily to the same key.
        guard let bound = try self.keys() else { throw StateError(.keyMissing, path: source.path) }
        return bound
    }

    private func run<Value>(_ body: () throws -> Value) throws(StateError) -> Value {
        do {
            return try body()
        } catch {
            throw StateError(error, path: directory.databasePath)
        }
    }

    private enum Binding: Sendable {
        case unused
        case bound(Data)
        case broken

        init(_ db: Database) throws {
            if let check = try Data.fetchOne(db, sql: "SELECT key_check FROM identity WHERE id = 1") {
                self = .bound(check)
            } else {
                let isEmpty = try Int.fetchOne(db, sql: "SELECT count(*) FROM profiles") == 0
                self = isEmpty ? .unused : .broken
            }
        }
    }
}
