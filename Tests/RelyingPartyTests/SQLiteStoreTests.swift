// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Glibc
import LoginAssertion
import Testing

@testable import RelyingParty

@Suite struct `The SQLite store` {
    @Test func `makes a file that nobody else may read, whatever the umask is`() throws {
        let home = try StoreHome(.sqlite)
        let store = try SQLiteRelyingPartyStore(path: home.path, ifMissing: .create)
        var found = stat()
        for suffix in ["", "-wal", "-shm"] {
            #expect(lstat(home.path + suffix, &found) == 0)
            #expect(found.st_mode & 0o777 == 0o600, "\(suffix)")
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: home.directory).sorted()
        #expect(files == ["login.sqlite", "login.sqlite-shm", "login.sqlite-wal"])
        _ = consume store
    }

    // Docs/Security.md: L28
    @Test(arguments: ["removed", "replaced by a backup", "in another folder", "beside another log", "empty"])
    func `does nothing once its file was removed or replaced, until the file is back`(_ how: String)
        async throws
    {
        let home = try StoreHome(.sqlite)
        let store = try SQLiteRelyingPartyStore(path: home.path, ifMissing: .create)
        let (laptop, tablet) = (Device("anna", "laptop"), Device("anna", "tablet"))
        _ = try await store.register(laptop.registered, provided: nil, atMost: 9, audit: laptop.entry)
        let manager = FileManager.default
        let away = home.directory + "/away"
        try manager.createDirectory(atPath: away, withIntermediateDirectories: false)
        let files = ["", "-wal", "-shm"].map { "login.sqlite" + $0 }
        func move(_ names: [String], from: String, to: String) throws {
            for name in names { try manager.moveItem(atPath: "\(from)/\(name)", toPath: "\(to)/\(name)") }
        }
        switch how {
        case "in another folder":
            try manager.moveItem(atPath: home.directory, toPath: home.directory + ".moved")
        case "beside another log":
            let log = home.path + "-wal"
            try manager.moveItem(atPath: log, toPath: away + "/log")
            try manager.copyItem(atPath: away + "/log", toPath: log)
        default:
            try move(files, from: home.directory, to: away)
            if how == "replaced by a backup" {
                try manager.copyItem(atPath: "\(away)/login.sqlite", toPath: home.path)
            } else if how == "empty" {
                _ = try SQLiteRelyingPartyStore(path: home.path, ifMissing: .create)
            }
        }
        func outcome(_ body: () async throws -> Void) async -> RelyingPartyError.Code? {
            do {
                try await body()
                return nil
            } catch {
                return (error as? RelyingPartyError)?.code
            }
        }
        let entry = laptop.entry
        #expect(await outcome { _ = try await store.device(laptop.name, of: laptop.user) } == .store)
        #expect(await outcome { _ = try await store.devices(of: laptop.user) } == .store)
        #expect(await outcome { _ = try await store.document("a") } == .store)
        #expect(await outcome { _ = try await store.setDocument("a", to: Data([1]), ifWas: nil) } == .store)
        #expect(await outcome { _ = try await store.revoke(laptop.name, audit: entry) } == .store)
        #expect(
            await outcome { _ = try await store.signIn(laptop.registered, using: nil, audit: entry) }
                == .store
        )
        #expect(
            await outcome {
                _ = try await store.register(tablet.registered, provided: nil, atMost: 9, audit: tablet.entry)
            } == .store
        )
        #expect(
            await outcome { _ = try await store.count(RateBucket(key: "a", count: 1, seconds: 9), at: 1) }
                == .store
        )
        // As a file that was only moved for a moment.
        switch how {
        case "in another folder":
            try manager.moveItem(atPath: home.directory + ".moved", toPath: home.directory)
        case "beside another log":
            try manager.removeItem(atPath: home.path + "-wal")
            try manager.moveItem(atPath: away + "/log", toPath: home.path + "-wal")
        default:
            for file in files where manager.fileExists(atPath: "\(home.directory)/\(file)") {
                try manager.removeItem(atPath: "\(home.directory)/\(file)")
            }
            try move(files, from: away, to: home.directory)
        }
        #expect(try await store.devices(of: laptop.user).map(\.device) == [laptop.name])
    }

    @Test func `holds no challenge in its files`() async throws {
        let bank = try await Bank(.sqlite)
        let challenge = try await bank.challenge(Device())
        for name in try FileManager.default.contentsOfDirectory(atPath: bank.home.directory) {
            let data = try Data(contentsOf: URL(filePath: bank.home.directory + "/" + name))
            #expect(data.range(of: challenge) == nil)
        }
    }

    @Test func `is not made unless that is asked for`() throws {
        let home = try StoreHome(.sqlite)
        #expect(throws: RelyingPartyError.self) { try SQLiteRelyingPartyStore(path: home.path) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.directory).isEmpty)
        _ = try SQLiteRelyingPartyStore(path: home.path, ifMissing: .create)
        _ = try SQLiteRelyingPartyStore(path: home.path)
    }

    @Test func `opens where many make it at once`() async throws {
        let home = try StoreHome(.sqlite)
        let paths = home.path
        let users = try await withThrowingTaskGroup(of: LoginName?.self) { group in
            for number in 0..<12 {
                group.addTask {
                    let store = try SQLiteRelyingPartyStore(path: paths, ifMissing: .create)
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
        #expect(Set(users).count == 12)
        let rows = try await DatabaseQueue(path: home.path).read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM devices")
        }
        #expect(rows == 12)
    }

    @Test(arguments: [
        "empty", "text", "short", "another program's", "newer", "older", "open", "link", "folder",
        "planted log",
    ])
    func `leaves a file alone that is not its own`(_ what: String) throws {
        let home = try StoreHome(.sqlite)
        let path = home.path
        try make(what, path)
        func contents() throws -> [String: Data?] {
            let names = try FileManager.default.contentsOfDirectory(atPath: home.directory)
            return Dictionary(
                uniqueKeysWithValues: names.map {
                    ($0, FileManager.default.contents(atPath: home.directory + "/" + $0))
                }
            )
        }
        let before = try contents()
        #expect(throws: RelyingPartyError.self) {
            try SQLiteRelyingPartyStore(path: path, ifMissing: .create)
        }
        #expect(try contents() == before)
    }

    private func make(_ what: String, _ path: String) throws {
        let manager = FileManager.default
        func store() throws { _ = try SQLiteRelyingPartyStore(path: path, ifMissing: .create) }
        switch what {
        case "empty": _ = manager.createFile(atPath: path, contents: Data())
        case "text": _ = manager.createFile(atPath: path, contents: Data(repeating: 65, count: 9_000))
        case "short": _ = manager.createFile(atPath: path, contents: Data("SQLite format 3\0".utf8))
        case "another program's":
            // With tables of the same names, and the same version.
            try DatabaseQueue(path: path).write { db in
                for table in ["meta (name PRIMARY KEY, value)", "challenges (x)"] {
                    try db.execute(sql: "CREATE TABLE \(table)")
                }
                try db.execute(sql: "INSERT INTO challenges VALUES (1); PRAGMA user_version = 1")
            }
        case "newer", "older":
            try store()
            try DatabaseQueue(path: path).writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA user_version = \(what == "newer" ? SQLiteSchema.version + 1 : 0)")
                _ = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
        case "open":
            try store()
            chmod(path, 0o640)
            return
        case "planted log":
            try store()
            _ = manager.createFile(atPath: path + "-wal", contents: Data(repeating: 1, count: 99))
            chmod(path + "-wal", 0o666)
            return
        case "link":
            try store()
            try manager.moveItem(atPath: path, toPath: path + ".there")
            try manager.createSymbolicLink(atPath: path, withDestinationPath: path + ".there")
        default: try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        if what != "folder", what != "link" { chmod(path, 0o600) }
    }

    @Test func `says why it cannot be opened, where its folder is missing or the path is empty`() {
        for path in ["/nonexistent/login.sqlite", ""] {
            #expect {
                try SQLiteRelyingPartyStore(path: path, ifMissing: .create)
            } throws: {
                ($0 as? RelyingPartyError)?.code == .store
            }
        }
    }

    @Test func `has another key of challenges after each start of the machine, and not before`() async throws
    {
        func isRenewed(_ home: StoreHome, from first: String?, to second: String?) async throws -> Bool {
            let key = try await SQLiteRelyingPartyStore(path: home.path, bootID: first).challengeKey()
            let next = try await SQLiteRelyingPartyStore(path: home.path, bootID: second).challengeKey()
            #expect(key.count == 32 && next.count == 32)
            return key != next
        }
        let home = try StoreHome(.sqlite)
        #expect(try await !isRenewed(home, from: "one", to: "one"))
        #expect(try await isRenewed(home, from: "one", to: "two"))
        // Where nothing tells one start from another, each opening may be a new one.
        #expect(try await isRenewed(home, from: "two", to: nil))
        #expect(try await isRenewed(StoreHome(.sqlite), from: nil, to: nil))
        #expect(MachineBoot.id()?.count == 36)
    }

    @Test func `takes no challenge of before the machine started`() async throws {
        let bank = try await Bank(.sqlite)
        let device = Device()
        try await bank.enable(device)
        let open = try await bank.answer(device)
        _ = try SQLiteRelyingPartyStore(path: bank.home.path, bootID: "the next start")
        let another = try await bank.another()
        #expect(await another.refusal(open) == .challengeUnknown)
        // An instance that was there all the time has noticed within a minute.
        bank.clock.advance(by: 60)
        _ = try await another.signIn(bank.answer(device))
    }

    @Test func `has registrations and revocations on the disk when they are acknowledged`() async throws {
        let home = try StoreHome(.sqlite)
        let store = try SQLiteRelyingPartyStore(path: home.path, ifMissing: .create)
        func level() async throws -> Int? {
            try await store.read { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
        }
        let device = Device()
        let (full, process) = (2, 1)
        _ = try await store.register(device.registered, provided: nil, atMost: 9, audit: device.entry)
        #expect(try await level() == full)
        _ = try await store.signIn(device.registered, using: .another(), audit: device.entry)
        #expect(try await level() == process)
        _ = try await store.revoke(nil, audit: device.entry)
        #expect(try await level() == full)
        _ = try await store.use(.another(), audit: nil)
        #expect(try await level() == process)
        _ = try await store.setDocument("keys", to: Data(), ifWas: nil)
        #expect(try await level() == full)
        #expect(try await store.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
    }

    @Test(arguments: SQLiteStatements.ofEachSignIn.indices)
    func `finds by an index all that a sign-in looks for`(_ index: Int) async throws {
        let home = try StoreHome(.sqlite)
        let store = try SQLiteRelyingPartyStore(path: home.path, ifMissing: .create)
        let sql = SQLiteStatements.ofEachSignIn[index]
        let plan = try await store.read { db in
            try Row.fetchAll(
                db,
                sql: "EXPLAIN QUERY PLAN " + sql,
                arguments: StatementArguments(
                    Array(repeating: DatabaseValue.null, count: sql.count { $0 == "?" })
                )
            ).map { $0["detail"] as String }
        }
        #expect(!plan.contains { $0.hasPrefix("SCAN") && $0 != "SCAN CONSTANT ROW" }, "\(sql): \(plan)")
    }

    // Not covered: a power cut; what it may take is told by SQLite's documentation of `synchronous`.
}
