// SPDX-License-Identifier: Apache-2.0

import Foundation
import CWhorlSQLite
import WhorlSQLite
import Glibc
import Testing

@testable import WhorlStateStore
import WhorlService

struct StateDatabaseTests {
    struct Refusal: Error, Equatable {}

    @Test func `what was written is there after opening again`() async throws {
        let home = try TemporaryDirectory()
        try await StateDatabase(directory: home.state).log("one")
        let again = try #require(try StateDatabase.openExisting(home.state))
        #expect(try await again.events() == ["one"])
    }

    /// Otherwise the next program that closes the database takes itself for the last one, and deletes the log.
    @Test func `opening it once more leaves the locks of who has it open`() async throws {
        let home = try TemporaryDirectory()
        let first = try StateDatabase(directory: home.state)
        _ = try await first.events()
        let before = try locks(on: first.directory.databasePath)
        try #require(before > 0)
        let second = try #require(try StateDatabase.openExisting(home.state))
        #expect(try locks(on: first.directory.databasePath) >= before)
        _ = try await second.events()
    }

    /// How many the kernel knows of, by its list.
    private func locks(on path: String) throws -> Int {
        var found = stat()
        try #require(stat(path, &found) == 0)
        let file = try #require(fopen("/proc/locks", "re"))
        defer { fclose(file) }
        var count = 0
        var line = [CChar](repeating: 0, count: 512)
        while fgets(&line, CInt(line.count), file) != nil {
            let text = String(
                decoding: line.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) },
                as: UTF8.self
            )
            if text.contains(" POSIX "), text.contains(":\(found.st_ino) ") { count += 1 }
        }
        return count
    }

    @Test func `an error and a refusal roll everything back`() async throws {
        let home = try TemporaryDirectory()
        let database = try StateDatabase(directory: home.state)
        await #expect(throws: ServiceError.self) {
            try await database.write { db in
                try db.execute(sql: "DELETE FROM identity")
                try db.execute(sql: "INSERT INTO nowhere VALUES (1)")
            }
        }
        let refused: Result<Void, Refusal> = try await database.transaction { db in
            try db.execute(sql: "DELETE FROM identity")
            return .failure(Refusal())
        }
        #expect(throws: Refusal()) { try refused.get() }
        #expect(try await database.read { try $0.value(sql: "SELECT count(*) FROM identity") as Int? } == 1)
    }

    @Test func `a read changes nothing`() async throws {
        let home = try TemporaryDirectory()
        let database = try StateDatabase(directory: home.state)
        await #expect(throws: ServiceError.self) {
            try await database.read { try $0.execute(sql: "DELETE FROM identity") }
        }
    }

    @Test func `a cancelled task's write is written`() async throws {
        let home = try TemporaryDirectory()
        let database = try StateDatabase(directory: home.state)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await database.log("after the cancellation")
        }
        task.cancel()
        try await task.value
        #expect(try await database.events() == ["after the cancellation"])
    }

    @Test(arguments: [(Durability.full, 2), (.relaxed, 1)])
    func `durability sets what SQLite syncs`(durability: Durability, synchronous: Int) async throws {
        let home = try TemporaryDirectory()
        let database = try StateDatabase(directory: home.state)
        try await database.write(durability == .full ? .relaxed : .full) { _ in }
        let setting = try await database.write(durability) { try $0.value(sql: "PRAGMA synchronous") as Int? }
        #expect(setting == synchronous)
        #expect(try await database.write { try $0.value(sql: "PRAGMA journal_mode") as String? } == "wal")
    }

    @Test func `processes that write at once lose nothing`() async throws {
        let home = try TemporaryDirectory()
        let path = home.state.path
        await withTaskGroup { group in
            for writer in 0..<3 {
                group.addTask {
                    await #expect(processExitsWith: .success) {
                        [path = path as String, writer = writer as Int] in
                        let database = try StateDatabase(directory: StateDirectory(path: path))
                        for number in 0..<40 {
                            try await database.log(
                                "\(writer):\(number)",
                                durability: number % 2 == 0 ? .full : .relaxed
                            )
                        }
                    }
                }
            }
        }
        let events = try await StateDatabase(directory: home.state).events()
        #expect(events.count == 120)
        for writer in 0..<3 {
            let mine = events.filter { $0.hasPrefix("\(writer):") }
            #expect(mine == (0..<40).map { "\(writer):\($0)" })
        }
    }

    @Test func `a full database says so and keeps what it had`() async throws {
        let home = try TemporaryDirectory()
        let database = try StateDatabase(directory: home.state)
        try await database.log("before")
        try await database.write { db in
            let pages = try db.value(sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages + 1)")
        }
        let error = await #expect(throws: ServiceError.self) {
            for _ in 0..<100 { try await database.log(String(repeating: "x", count: 4000)) }
        }
        #expect(error?.code == .diskFull)
        #expect(try await database.events().first == "before")
    }

    @Test(.enabled(if: geteuid() == 0, "mounting needs root"))
    func `a full disk says so and keeps what it had`() async throws {
        let home = try TemporaryDirectory()
        let disk = home.path + "/disk"
        mkdir(disk, 0o700)
        guard run("/bin/mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", disk) else {
            // The test above covers SQLite's own limit.
            try Test.cancel("nothing may be mounted here")
        }
        defer { _ = run("/bin/umount", "-l", disk) }
        while let size = try? contents(of: disk).values.reduce(0, { $0 + $1.count }), size < 400_000 {
            #expect(write(toNewFileIn: disk, bytes: 40_000))
        }
        let directory = StateDirectory(path: disk + "/state")
        let database = try StateDatabase(directory: directory)
        try await database.log("before")
        let error = await #expect(throws: ServiceError.self) {
            for _ in 0..<500 { try await database.log(String(repeating: "x", count: 4000)) }
        }
        #expect(error?.code == .diskFull)
        let kept = try await database.events()
        #expect(kept.first == "before")

        // A first start on the full disk leaves nothing that a later one would stumble over.
        let fresh = StateDirectory(path: disk + "/fresh")
        while write(toNewFileIn: disk, bytes: 4096) {}
        #expect(openingError(fresh)?.code == .diskFull)
        for name in try FileManager.default.contentsOfDirectory(atPath: disk) where name.hasPrefix("fill") {
            unlink(disk + "/" + name)
        }
        #expect(openingError(fresh) == nil)
        #expect(try await database.events() == kept)
        try await database.log("after")
    }

    @Test(arguments: [
        (SQLITE_FULL, ServiceError.Code.diskFull), (SQLITE_CORRUPT, .storeDamaged),
        (SQLITE_NOTADB, .storeDamaged),
        (SQLITE_BUSY, .storeBusy), (SQLITE_LOCKED, .storeBusy), (SQLITE_READONLY, .storeNotWritable),
        (SQLITE_CANTOPEN, .storeNotWritable), (SQLITE_IOERR, .storeFailed), (SQLITE_ERROR, .storeFailed),
    ])
    func `SQLite's codes have a meaning`(code: Int32, meaning: ServiceError.Code) {
        #expect(ServiceError(DatabaseError(code), path: "/").code == meaning)
    }

    @Test func `an error does not show what was to be stored`() async throws {
        let home = try TemporaryDirectory()
        let database = try StateDatabase(directory: home.state)
        let error = await #expect(throws: ServiceError.self) {
            try await database.write { db in
                try db.execute(
                    sql: "INSERT INTO opt_outs VALUES (?, NULL)",
                    arguments: ["the secret label"]
                )
            }
        }
        #expect(error.map { !"\($0) \($0.message) \($0.recovery)".contains("secret label") } == true)
    }

    private func run(_ program: String, _ arguments: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    private func write(toNewFileIn directory: String, bytes: Int) -> Bool {
        let path = directory + "/fill\(UUID().uuidString)"
        return FileManager.default.createFile(atPath: path, contents: Data(count: bytes))
    }
}
