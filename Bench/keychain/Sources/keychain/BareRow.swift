// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import GRDB

/// What a program would make without a keychain: a row with a name and with what it encrypts, in a database with the same
/// settings.
struct BareRow {
    private let queue: DatabaseQueue
    private let key = SymmetricKey(size: .bits256)

    init(_ path: String) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
            _ = try Int.fetchOne(db, sql: "PRAGMA secure_delete = ON")
        }
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { _ = try String.fetchOne($0, sql: "PRAGMA journal_mode = WAL") }
        try queue.write {
            try $0.execute(
                sql: """
                    CREATE TABLE items (service TEXT NOT NULL, account TEXT NOT NULL, value BLOB NOT NULL,
                        PRIMARY KEY (service, account)) STRICT
                    """
            )
        }
    }

    func add(_ account: String, _ value: Data) throws {
        let sealed = try AES.GCM.seal(value, using: key).combined
        try queue.write { db in
            try db.cachedStatement(sql: "INSERT INTO items VALUES (?, ?, ?)")
                .execute(arguments: ["mail", account, sealed])
        }
    }

    func find(_ account: String) throws -> Data? {
        let sealed = try queue.unsafeRead { db in
            try Data.fetchOne(
                db.cachedStatement(sql: "SELECT value FROM items WHERE service = ? AND account = ?"),
                arguments: ["mail", account]
            )
        }
        return try sealed.map { try AES.GCM.open(AES.GCM.SealedBox(combined: $0), using: key) }
    }

    func delete(_ account: String) throws {
        try queue.write { db in
            try db.cachedStatement(sql: "DELETE FROM items WHERE service = ? AND account = ?")
                .execute(arguments: ["mail", account])
        }
    }
}
