// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSQLite
import Testing
import WhorlService

@testable import WhorlStateStore

/// A database that an earlier version wrote is brought up to date when it is opened.
struct UpdateTests {
    private let home: TemporaryDirectory

    init() throws {
        home = try TemporaryDirectory()
        _ = try StateDatabase(directory: home.state)
    }

    /// Two steps after those of this version; the second one needs the table of the first.
    private static let steps: [Schema.Step] =
        Schema.steps + [
            { try $0.execute(sql: "CREATE TABLE new_things (x)") },
            { try $0.execute(sql: "INSERT INTO new_things VALUES (1)") },
        ]

    /// The version that the database has before them.
    private static let before = Int(Schema.version)

    private func queue() throws -> DatabaseQueue {
        try DatabaseQueue(path: home.file("whorl.sqlite"), busyTimeout: 60_000)
    }

    private func things() throws -> Int? {
        try queue().access { try $0.value(sql: "SELECT count(*) FROM new_things") as Int? }
    }

    private func version() throws -> Int? {
        try queue().access { try $0.value(sql: "PRAGMA user_version") as Int? }
    }

    @Test func `each step runs once, in order, and the rest stays`() throws {
        try Schema.update(queue(), by: Self.steps)
        try Schema.update(queue(), by: Self.steps)
        #expect(try things() == 1)
        #expect(try version() == Self.before + 2)
        #expect(try queue().access { try $0.value(sql: "SELECT count(*) FROM identity") as Int? } == 1)
    }

    @Test func `a later update starts at the version that is there`() throws {
        try Schema.update(queue(), by: Array(Self.steps.dropLast()))
        #expect(try (things(), version()) == (0, Self.before + 1))
        try Schema.update(queue(), by: Self.steps)
        #expect(try (things(), version()) == (1, Self.before + 2))
    }

    @Test func `a database of the first version gets the table for keyrings, and keeps its rows`() throws {
        try queue().access { db in
            try db.execute(sql: "DROP TABLE keyring_passwords")
            try db.execute(sql: "INSERT INTO login_passwords (profile) VALUES ('ada')")
            try db.execute(sql: "PRAGMA user_version = 1")
        }
        #expect(openingError(home.state) == nil)
        #expect(try version() == Self.before)
        #expect(
            try queue().access { try $0.value(sql: "SELECT count(*) FROM keyring_passwords") as Int? } == 0
        )
        #expect(try queue().access { try $0.value(sql: "SELECT count(*) FROM login_passwords") as Int? } == 1)
    }

    @Test func `a database of the second version takes SSH keys afterwards, and keeps its items`() throws {
        func insert(_ kind: String) throws {
            try queue().access { db in
                try db.execute(
                    sql:
                        "INSERT INTO vault_items VALUES ('ada', ?, 'x', zeroblob(16), x'', x'', x'', NULL, 1.5, x'')",
                    arguments: [kind]
                )
            }
        }
        func text() throws -> String? {
            try queue().access {
                try $0.value(sql: "SELECT sql FROM sqlite_master WHERE name = 'vault_items'")
            }
        }
        let now = try #require(try text())
        try queue().access { db in
            try db.execute(sql: "DROP TABLE vault_items")
            try db.execute(sql: now.replacing(", 'sshKey'", with: ""))
            try db.execute(sql: "PRAGMA user_version = 2")
        }
        try insert("key")
        #expect(throws: DatabaseError.self) { try insert("sshKey") }
        #expect(openingError(home.state) == nil)
        #expect(try version() == Self.before && text() == now)
        try insert("sshKey")
        #expect(throws: DatabaseError.self) { try insert("other") }
        #expect(try queue().access { try $0.value(sql: "SELECT count(*) FROM vault_items") as Int? } == 2)
    }

    @Test func `a process that is faster does the update, and the other one finds it done`() async throws {
        let path = home.file("whorl.sqlite")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try Schema.update(DatabaseQueue(path: path, busyTimeout: 60_000), by: Self.steps)
                }
            }
            try await group.waitForAll()
        }
        #expect(try (things(), version()) == (1, Self.before + 2))
    }

    @Test func `a step that fails leaves the database as it was`() throws {
        #expect(throws: DatabaseError.self) {
            try Schema.update(queue(), by: Self.steps + [{ try $0.execute(sql: "DROP TABLE nothing") }])
        }
        #expect(try version() == Self.before)
        #expect(throws: DatabaseError.self) { try things() }
        #expect(openingError(home.state) == nil)
    }
}
