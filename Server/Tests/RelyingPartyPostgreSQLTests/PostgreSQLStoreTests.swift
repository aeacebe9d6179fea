// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

@testable import RelyingPartyPostgreSQL

@Suite(.enabled(if: PostgreSQLServer.isAvailable, "no PostgreSQL server is installed"))
struct `The PostgreSQL store` {
    @Test func `makes its tables once where many instances start together`() async throws {
        let url = try PostgreSQLServer.shared.get().database()
        let users = try await withThrowingTaskGroup(of: LoginName?.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let store = try await PostgreSQLRelyingPartyStore(
                        url: url,
                        connections: 1,
                        ifMissing: .create
                    )
                    let device = Device("user\(number)")
                    _ = try await store.register(
                        device.registered,
                        provided: nil,
                        atMost: 9,
                        audit: device.entry
                    )
                    return try await store.devices(of: device.user).first?.user
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(users).count == 8)
    }

    @Test func `makes no tables unless it is asked to`() async throws {
        let url = try PostgreSQLServer.shared.get().database()
        await #expect(throws: RelyingPartyError.self) {
            _ = try await PostgreSQLRelyingPartyStore(url: url, connections: 1)
        }
        let before = try tables(url)
        #expect(before == 0)
        _ = try await PostgreSQLRelyingPartyStore(url: url, connections: 1, ifMissing: .create)
        _ = try await PostgreSQLRelyingPartyStore(url: url, connections: 1)
    }

    @Test(arguments: [
        "CREATE SCHEMA whorl_login; CREATE TABLE whorl_login.devices (x int)",
        "CREATE SCHEMA whorl_login; CREATE TABLE whorl_login.meta (name text, value text)",
        """
        CREATE SCHEMA whorl_login; CREATE TABLE whorl_login.meta (name text, value text);
        INSERT INTO whorl_login.meta VALUES ('version', '2')
        """,
    ])
    func `leaves a schema alone that is not its own`(_ sql: String) async throws {
        let url = try PostgreSQLServer.shared.get().database()
        let connection = try PostgreSQLConnection.open(url: url)
        try connection.run(sql)
        await #expect(throws: RelyingPartyError.self) {
            _ = try await PostgreSQLRelyingPartyStore(url: url, connections: 1, ifMissing: .create)
        }
        let tables = try tables(url)
        #expect(tables == 1)
    }

    private func tables(_ url: String) throws -> Int? {
        var connection = try PostgreSQLConnection.open(url: url)
        return try connection.run("SELECT count(*) FROM pg_tables WHERE schemaname = 'whorl_login'", []).int(
            0,
            0
        )
    }

    @Test func `refuses a database that cannot hold every name`() async throws {
        let url = try PostgreSQLServer.shared.get().database(options: "ENCODING 'LATIN1'")
        await #expect(throws: RelyingPartyError.self) {
            _ = try await PostgreSQLRelyingPartyStore(url: url, connections: 1, ifMissing: .create)
        }
    }

    @Test(arguments: [
        "postgres://ada:opensesame@[::1:5432/x", "postgres://ada:opensesame@/x?nonsense=opensesame",
        "postgres://ada:opensesame@127.0.0.1:1/x", "host=/nonexistent password=opensesame",
    ])
    func `does not tell the password of a database that it cannot reach`(_ url: String) async throws {
        do {
            _ = try await PostgreSQLRelyingPartyStore(url: url, connections: 1, ifMissing: .create)
            Issue.record("it was opened")
        } catch {
            #expect(error.code == .store)
            #expect(!error.cause.isEmpty)
            #expect(!"\(error) \(error.message) \(error.remedy)".contains("opensesame"))
        }
    }

    @Test func `goes on where its connections were cut`() async throws {
        let url = try PostgreSQLServer.shared.get().database()
        let store = try await PostgreSQLRelyingPartyStore(url: url, connections: 2, ifMissing: .create)
        let device = Device()
        _ = try await store.register(device.registered, provided: nil, atMost: 9, audit: device.entry)
        for _ in 0..<3 {
            let other = try PostgreSQLConnection.open(url: url)
            try other.run(
                """
                SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                """
            )
            // Also what is not done twice: a connection is looked at before it is used.
            for _ in 0..<4 {
                let signIn = try await store.signIn(device.registered, using: .another(), audit: device.entry)
                #expect(signIn == .signedIn)
                #expect(try await store.devices(of: device.user).count == 1)
            }
        }
    }

    @Test func `blocks no thread that tasks run on, however many wait`() async throws {
        let url = try PostgreSQLServer.shared.get().database()
        let store = try await PostgreSQLRelyingPartyStore(
            url: url,
            connections: 1,
            patience: 60,
            ifMissing: .create
        )
        // The one connection waits for a lock that is held here.
        let holder = try PostgreSQLConnection.open(url: url, patience: 60)
        try holder.run("BEGIN; LOCK TABLE whorl_login.devices IN ACCESS EXCLUSIVE MODE")
        let user = Device().user
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<200 { group.addTask { try await store.devices(of: user).count } }
            // Tasks run meanwhile: this one lets the others go.
            for _ in 0..<100 { await Task.yield() }
            try holder.run("ROLLBACK")
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 0, count: 200))
    }

    @Test(.timeLimit(.minutes(1))) func `waits for a lock no longer than it may`() async throws {
        let url = try PostgreSQLServer.shared.get().database()
        let store = try await PostgreSQLRelyingPartyStore(
            url: url,
            connections: 1,
            patience: 1,
            ifMissing: .create
        )
        let holder = try PostgreSQLConnection.open(url: url, patience: 60)
        try holder.run("BEGIN; LOCK TABLE whorl_login.devices IN ACCESS EXCLUSIVE MODE")
        let user = Device().user
        let refused = await code { () async throws(RelyingPartyError) in _ = try await store.devices(of: user)
        }
        #expect(refused == .store)
        try holder.run("ROLLBACK")
        #expect(try await store.devices(of: user).isEmpty)
    }

    @Test func `carries every value as it is`() throws {
        var connection = try PostgreSQLConnection.open(url: PostgreSQLServer.shared.get().url("postgres"))
        let text = "'; DROP TABLE devices; -- \u{e9}\u{1F600}$1"
        let bytes = Data((0...255).map { UInt8($0) })
        for number in [0, 1, -1, .max, .min] {
            let rows = try connection.run(
                "SELECT $1, $2, $3, $4, $5",
                [.int(number), .text(text), .bytes(bytes), .text(nil), .bytes(Data())]
            )
            #expect(rows.int(0, 0) == number)
            #expect(rows.text(0, 1) == text)
            #expect(rows.bytes(0, 2) == bytes)
            #expect(rows.text(0, 3) == nil)
            #expect(rows.bytes(0, 4) == Data())
            #expect(rows.bytes(1, 0) == nil)
            #expect(rows.bytes(0, 5) == nil)
        }
        // One statement by text is one prepared statement.
        let prepared = try connection.run("SELECT count(*) FROM pg_prepared_statements", []).int(0, 0)
        #expect(prepared == 2)
    }

    @Test func `finds by an index all that a sign-in looks for`() async throws {
        let url = try PostgreSQLServer.shared.get().database()
        _ = try await PostgreSQLRelyingPartyStore(url: url, connections: 1, ifMissing: .create)
        var connection = try PostgreSQLConnection.open(url: url, patience: 60)
        try connection.run(
            """
            INSERT INTO whorl_login.devices
                SELECT 'user ' || i, 'laptop', 'key ' || i, '', '', i FROM generate_series(1, 5000) i;
            ANALYZE whorl_login.devices
            """
        )
        let entry = Device().entry
        let statements: [(String, [PostgreSQLValue])] = [
            (PostgreSQLStatements.device, [.text("user 7"), .text("laptop")]),
            (PostgreSQLStatements.markUsed, PostgreSQLAudit.values(entry) + [.int(1), .text("key 7")]),
            (
                PostgreSQLStatements.signIn,
                PostgreSQLAudit.values(entry) + [
                    .int(1), .text("key 7"), .bytes(Nonce.another().bytes),
                ]
            ),
        ]
        for (sql, values) in statements {
            let rows = try connection.run("EXPLAIN " + sql, values)
            let plan = (0..<rows.count).compactMap { rows.text($0, 0) }.joined(separator: "\n")
            #expect(plan.contains("Index"), "\(plan)")
            #expect(!plan.contains("Seq Scan"), "\(plan)")
        }
    }

    @Test(arguments: [
        ("postgres://db.example/x", "verify-full"), ("postgres://127.0.0.1,db.example/x", "verify-full"),
        ("host=192.0.2.1 user=x", "verify-full"), ("postgres://127.example/x", "verify-full"),
        ("postgres://localhost/x?hostaddr=192.0.2.1", "verify-full"),
        ("postgres:///x", nil), ("postgres://localhost/x", nil), ("postgres://127.0.0.1:5433/x", nil),
        ("postgres://[::1]/x", nil), ("postgres:///x?host=/run/postgresql", nil),
        ("postgres://db.example/x?sslmode=require", nil), ("postgres://db.example/x?service=login", nil),
    ])
    func `proves the name of a server that is elsewhere, unless the URL says otherwise`(
        _ url: String,
        _ mode: String?
    ) {
        #expect(PostgreSQLURL.defaults(of: url, environment: [:]).first?.1 == mode)
        #expect(PostgreSQLURL.defaults(of: url, environment: ["PGSSLMODE": "disable"]).isEmpty)
    }

    @Test func `uses no database that takes no change, and leaves one that has become such`() async throws {
        let url = try PostgreSQLServer.shared.get().database()
        let store = try await PostgreSQLRelyingPartyStore(
            url: url,
            connections: 1,
            patience: 60,
            ifMissing: .create
        )
        let other = try PostgreSQLConnection.open(url: url)
        let name = try #require(url.split(separator: "?").first?.split(separator: "/").last)
        // As a standby answers; its connections go on.
        try other.run("ALTER DATABASE \(name) SET default_transaction_read_only = on")
        let device = Device()
        await #expect(throws: RelyingPartyError.self) {
            _ = try await PostgreSQLRelyingPartyStore(
                url: url,
                connections: 1,
                patience: 60,
                ifMissing: .refuse
            )
        }
        try await store.pool.perform { connection throws(PostgreSQLFailure) in
            try connection.run("SET default_transaction_read_only = on")
        }
        let refused = await code { () async throws(RelyingPartyError) in
            _ = try await store.register(device.registered, audit: device.entry)
        }
        #expect(refused == .store)
        try other.run("ALTER DATABASE \(name) RESET default_transaction_read_only")
        // The connection was given up, and the next one takes changes.
        #expect(try await store.register(device.registered, audit: device.entry) == .registered)
    }

    // Not covered: a failover to a replica, and a power cut of the database's machine.
}
