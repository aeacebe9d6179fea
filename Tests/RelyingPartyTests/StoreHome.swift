// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing

@testable import RelyingParty

/// The stores of this target's tests.
///
/// The server's package runs the same tests on PostgreSQL, with a file of its own in
/// the place of this one.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite

    var testDescription: String { rawValue }

    /// The store of tests that look at something else.
    static let usual = StoreKind.sqlite
    /// Each store that a test of a store runs on.
    static let all = allCases
}

/// A place of a test's own for a store, which may be opened several times.
final class StoreHome: Sendable {
    let directory: String

    init(_ kind: StoreKind) throws {
        directory = FileManager.default.temporaryDirectory.path + "/whorl-login-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    var path: String { directory + "/login.sqlite" }

    func open(ifMissing: MissingDatabase = .create) async throws -> any RelyingPartyStore {
        try SQLiteRelyingPartyStore(path: path, ifMissing: ifMissing)
    }

    /// Takes away what later versions of the schema have added.
    func goBack(to version: Int) async throws {
        var undo = "ALTER TABLE devices DROP COLUMN attested;"
        if version < 3 {
            undo += """
                DELETE FROM documents WHERE name = 'challenge-key'; DROP TABLE used_nonces;
                CREATE INDEX audit_others ON audit (id) WHERE event <> 'password_refused';
                CREATE TABLE challenges (
                    digest BLOB PRIMARY KEY CHECK (length(digest) = 32), user TEXT NOT NULL, device TEXT NOT NULL,
                    use TEXT NOT NULL CHECK (use IN ('enable', 'login', 'raw')), expires_at INTEGER NOT NULL,
                    UNIQUE (user, device, use)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX challenges_by_end ON challenges (expires_at);
                INSERT INTO challenges VALUES (zeroblob(32), 'ada', 'laptop', 'login', 1);
                """
        }
        if version == 1 {
            undo += """
                DROP INDEX audit_refused_passwords; DROP INDEX audit_others; ALTER TABLE devices DROP COLUMN approved;
                """
        }
        try await DatabaseQueue(path: path).writeWithoutTransaction { [undo] db in
            try db.execute(sql: undo)
            try db.execute(sql: "PRAGMA user_version = \(version)")
            _ = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }
}

extension Bank {
    /// The number of rows of each table.
    func rows() async throws -> [String: Int] {
        var counts: [String: Int] = [:]
        let queue = try DatabaseQueue(path: home.path)
        for table in ["used_nonces", "tries", "devices", "audit", "documents"] {
            counts[table] = try await queue.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)")
            }
        }
        return counts
    }
}
