// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Glibc
import StateStore
import Testing
import WhorlService

/// A database that an earlier version wrote is brought up to date when it is opened.
struct UpdateTests {
    private static let filling = """
        INSERT INTO profiles VALUES ('ada', 3, x'00', 5);
        INSERT INTO attempts VALUES ('ada', 4, 1, 17, 2, 10.5, 20.5, 'boot');
        INSERT INTO reuse VALUES ('ada', x'01', x'02');
        INSERT INTO opt_outs VALUES ('ada', 'app');
        INSERT INTO audit (at, profile, application, event, outcome) VALUES (0, 'p', 'a', 'kept', 'ok');
        """

    private func old(_ filling: String = filling) throws -> TemporaryDirectory {
        let home = try TemporaryDirectory()
        try VersionOne.replaceDatabase(of: home, filling: filling)
        return home
    }

    @Test func `tries of version 1 count for real and for pretended readers`() async throws {
        let home = try old()
        let database = try #require(try StateDatabase.openExisting(home.state))
        let rows = try await database.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM attempts ORDER BY reader_class").map {
                $0.map { "\($0)=\($1)" }.joined(separator: " ")
            }
        }
        let rest =
            "failures=4 pending=1 total_failures=17 lockouts=2 locked_until_boot=10.5 locked_until_wall=20.5 "
            + "boot_id=\"boot\""
        #expect(
            rows == [
                "profile=\"ada\" reader_class=\"pretended\" \(rest)",
                "profile=\"ada\" reader_class=\"real\" \(rest)",
            ]
        )
    }

    @Test func `prints, programs and the log stay, and matches are not reused`() async throws {
        let home = try old()
        let database = try StateDatabase(directory: home.state)
        #expect(try await database.events() == ["kept"])
        let counts = try await database.read { db in
            try ["profiles", "opt_outs", "reuse"].map {
                try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)")
            }
        }
        #expect(counts == [1, 1, 0])
    }

    @Test func `an updated database has the tables of a new one`() async throws {
        let home = try old()
        _ = try StateDatabase(directory: home.state)
        let fresh = try TemporaryDirectory()
        _ = try StateDatabase(directory: fresh.state)
        #expect(try Self.shape(home) == Self.shape(fresh))
    }

    @Test func `a process that is faster does the update, and the other one finds it done`() async throws {
        let home = try old()
        let directory = home.state
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { _ = try StateDatabase(directory: directory) } }
            try await group.waitForAll()
        }
        let database = try StateDatabase(directory: home.state)
        let tries = try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM attempts") }
        #expect(tries == 2)
    }

    @Test func `what cannot be updated is refused and left as it is`() throws {
        // The table that the update renames is there under the new name already.
        let home = try old("CREATE TABLE attempts_1 (x)")
        let before = try contents(of: home.state.path)
        #expect(openingError(home.state)?.code == .failed)
        #expect(try contents(of: home.state.path) == before)
    }

    /// Tables, their columns and what they are declared as.
    private static func shape(_ home: TemporaryDirectory) throws -> [String: [String]] {
        try DatabaseQueue(path: home.file("whorl.sqlite")).read { db in
            let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            var shape: [String: [String]] = [:]
            for table in tables {
                shape[table] = try Row.fetchAll(db, sql: "PRAGMA table_xinfo(\(table))").map { row in
                    row.map { "\($0)=\($1)" }.joined(separator: " ")
                }
            }
            return shape
        }
    }
}
