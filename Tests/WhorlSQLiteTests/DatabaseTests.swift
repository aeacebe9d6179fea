// SPDX-License-Identifier: Apache-2.0

import CWhorlSQLite
import Foundation
import Synchronization
import Testing

@testable import WhorlSQLite

/// What the store of keys relies on.
struct `A database` {
    private let folder: URL
    private var path: String { folder.path + "/test.sqlite" }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "whorl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let queue = try open()
        try queue.access { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            try db.execute(script: "CREATE TABLE t (x); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)")
        }
        try queue.close()
    }

    private func open(busyTimeout: Int32 = 0, isReadOnly: Bool = false) throws -> DatabaseQueue {
        try DatabaseQueue(path: path, isReadOnly: isReadOnly, busyTimeout: busyTimeout)
    }

    private func code(_ body: () throws -> Void) -> Int32? {
        do {
            try body()
            return nil
        } catch {
            return (error as? DatabaseError)?.code
        }
    }

    @Test func `gives back each kind of value as it was stored`() throws {
        try open().access { db in
            let text = "a\0b ä", bytes = Data([0, 1, 255])
            let row = try db.first(
                sql: "SELECT ?, ?, ?, ?, ?, ?, ?, ?",
                arguments: [Int64.min, 1.5, text, bytes, true, "", Data(), nil]
            ) { row in
                #expect(
                    row[0] == Int64.min && row[1] == 1.5 && row[2] == text && row[3] == bytes
                        && row[4] == true
                )
                #expect(row[5] == "" && row[6] == Data())
                #expect(row[7] as Int? == nil && row[7] as Data? == nil)
                return true
            }
            #expect(row == true)
        }
    }

    @Test func `converts no value to another type`() throws {
        try open().access { db in
            _ = try db.first(sql: "SELECT 2, 1.0, '7', x'37', 300 AS named") { row in
                #expect(row[0] as Bool? == nil && row[0] as Double? == nil && row[0] as String? == nil)
                #expect(row[1] as Int? == nil && row[2] as Int? == nil && row[2] as Data? == nil)
                #expect(row[3] as String? == nil && row[4] as UInt8? == nil)
                #expect(row["named"] == 300 && row["other"] as Int? == nil && row[9] as Int? == nil)
                #expect(code { _ = try row.column(2) as Int } == SQLITE_CORRUPT)
                #expect(code { _ = try row.optionalColumn(3) as String? } == SQLITE_CORRUPT)
            }
            #expect(code { _ = try db.value(sql: "SELECT 'x'") as Int? } == SQLITE_CORRUPT)
            #expect(code { _ = try db.values(sql: "SELECT NULL") as [Int] } == SQLITE_CORRUPT)
            #expect(try db.value(sql: "SELECT x FROM t WHERE x = 9") as Int? == nil)
        }
    }

    @Test func `runs one statement with the arguments that it has, or a script`() throws {
        try open().access { db in
            #expect(code { try db.execute(sql: "DELETE FROM t WHERE x = ?") } == SQLITE_MISUSE)
            #expect(code { try db.execute(sql: "DELETE FROM t", arguments: [1]) } == SQLITE_MISUSE)
            #expect(code { try db.execute(sql: "DELETE FROM t; DELETE FROM t") } == SQLITE_MISUSE)
            #expect(code { try db.execute(sql: "") } == SQLITE_MISUSE)
            #expect(code { try db.execute(sql: "DELETE FROM nothing") } == SQLITE_ERROR)
            #expect(try db.values(sql: "SELECT x FROM t ORDER BY x") == [1, 2])
            try db.execute(script: "DELETE FROM t WHERE x = 1; INSERT INTO t VALUES (3)")
            #expect(try db.values(sql: "SELECT x FROM t ORDER BY x") == [2, 3])
        }
    }

    @Test func `runs a statement within itself, and again after it failed or was left early`() throws {
        try open().access { db in
            let sql = "SELECT x FROM t ORDER BY x"
            var pairs: [[Int]] = []
            try db.each(sql: sql) { outer in
                pairs += try db.all(sql: sql) { inner in [try outer.column(0), try inner.column(0)] }
                return true
            }
            #expect(pairs == [[1, 1], [1, 2], [2, 1], [2, 2]])
            #expect(try db.first(sql: sql) { try $0.column(0) as Int } == 1)
            #expect(throws: CancellationError.self) {
                try db.each(sql: sql) { _ in throw CancellationError() }
            }
            #expect(try db.values(sql: sql) == [1, 2])
            try db.execute(script: "ALTER TABLE t ADD COLUMN y")
            #expect(try db.values(sql: sql) == [1, 2])
        }
    }

    @Test func `compiles a statement once, and keeps a limited number`() throws {
        var cache = StatementCache()
        let queue = try open()
        try queue.access { db in
            for number in 0..<200 { _ = try db.value(sql: "SELECT \(number)") as Int? }
        }
        try queue.close()
        var connection: OpaquePointer?
        sqlite3_open(":memory:", &connection)
        defer { sqlite3_close(connection) }
        for number in 0..<100 {
            var statement: OpaquePointer?
            sqlite3_prepare_v2(connection, "SELECT \(number)", -1, &statement, nil)
            let compiled = try #require(statement)
            cache.keep(compiled, "SELECT \(number)")
            // The first one is used all the time.
            if let first = cache.take("SELECT 0") { cache.keep(first, "SELECT 0") }
        }
        var count = 0
        var next = sqlite3_next_stmt(connection, nil)
        while next != nil {
            count += 1
            next = sqlite3_next_stmt(connection, next)
        }
        #expect(count == 64)
        let first = cache.take("SELECT 0")
        #expect(first != nil && cache.take("SELECT 1") == nil && cache.take("SELECT 0") == nil)
        sqlite3_finalize(first)
        cache.empty()
        #expect(sqlite3_next_stmt(connection, nil) == nil)
    }

    @Test func `keeps no argument of a statement that has ended`() throws {
        let queue = try open()
        try queue.access { db in
            let before = sqlite3_memory_used()
            try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [Data(count: 16 << 20)])
            #expect(sqlite3_memory_used() - before < 4 << 20)
        }
    }

    // MARK: - Transactions

    private struct Refusal: Error {}

    @Test func `keeps what a transaction did if it succeeds, and nothing otherwise`() throws {
        try open().access { db in
            func sum() throws -> Int? { try db.value(sql: "SELECT sum(x) FROM t") }
            try db.transaction { db in try db.execute(sql: "INSERT INTO t VALUES (10)") }
            #expect(try sum() == 13)
            let refused = try db.transaction { db -> Result<Void, Refusal> in
                try db.execute(sql: "DELETE FROM t")
                return .failure(Refusal())
            }
            #expect(throws: Refusal.self) { try refused.get() }
            #expect(throws: CancellationError.self) {
                try db.transaction { db in
                    try db.execute(sql: "DELETE FROM t")
                    throw CancellationError()
                }
            }
            #expect(
                code {
                    try db.transaction { db in
                        try db.execute(sql: "DELETE FROM t")
                        try db.execute(sql: "DELETE FROM nothing")
                    }
                } == SQLITE_ERROR
            )
            #expect(try sum() == 13)
            #expect(db.totalChangesCount > 0)
        }
        #expect(try open().access { try $0.value(sql: "SELECT sum(x) FROM t") } == 13)
    }

    @Test func `is as before after a commit that a deferred foreign key forbids`() throws {
        try open().access { db in
            try db.execute(
                script: """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY);
                    CREATE TABLE child (p REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);
                    """
            )
            let failed = code { try db.transaction { try $0.execute(sql: "INSERT INTO child VALUES (7)") } }
            #expect(failed == SQLITE_CONSTRAINT)
            #expect(try db.values(sql: "SELECT p FROM child") as [Int] == [])
            // The next transaction can begin.
            try db.transaction { try $0.execute(sql: "INSERT INTO parent VALUES (7)") }
        }
    }

    @Test func `changes nothing while it reads, and sees one state`() throws {
        let (queue, other) = (try open(), try open())
        try queue.access { db in
            try db.reading { db in
                #expect(try db.value(sql: "SELECT count(*) FROM t") == 2)
                try other.access { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
                #expect(try db.value(sql: "SELECT count(*) FROM t") == 2)
                #expect(code { try db.execute(sql: "DELETE FROM t") } == SQLITE_READONLY)
                #expect(code { try db.execute(script: "DELETE FROM t") } == SQLITE_READONLY)
                #expect(code { try db.execute(sql: "COMMIT; DELETE FROM t") } == SQLITE_MISUSE)
            }
            #expect(throws: CancellationError.self) { try db.reading { _ in throw CancellationError() } }
            #expect(try db.value(sql: "SELECT count(*) FROM t") == 3)
            try db.execute(sql: "DELETE FROM t")
        }
    }

    // MARK: - Connections

    @Test func `waits for another connection as long as it was told, and no longer`() throws {
        let (queue, impatient, patient) = (try open(), try open(), try open(busyTimeout: 20_000))
        let done = DispatchSemaphore(value: 0)
        let outcome = Mutex<Int32?>(-1)
        try queue.access { db in
            try db.transaction { db in
                try db.execute(sql: "INSERT INTO t VALUES (3)")
                #expect(code { try impatient.access { try $0.transaction { _ in } } } == SQLITE_BUSY)
                DispatchQueue.global().async {
                    let found = code { try patient.access { try $0.transaction { _ in } } }
                    outcome.withLock { $0 = found }
                    done.signal()
                }
                usleep(50_000)
                #expect(outcome.withLock(\.self) == -1)
            }
        }
        done.wait()
        #expect(outcome.withLock(\.self) == nil)
    }

    @Test func `runs one access at a time, in their order`() throws {
        let queue = try open()
        let seen = Mutex<[Int]>([])
        for number in 0..<100 { queue.accessLater { _ in seen.withLock { $0.append(number) } } }
        let order = queue.access { _ in seen.withLock(\.self) }
        #expect(order == Array(0..<100))
    }

    @Test func `moves its log into the file when it is closed`() throws {
        let queue = try open()
        try queue.access { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        try queue.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }

    @Test func `writes nothing through a connection that only reads`() throws {
        let queue = try open(isReadOnly: true)
        #expect(try queue.access { try $0.value(sql: "SELECT count(*) FROM t") } == 2)
        #expect(code { try queue.access { try $0.execute(sql: "DELETE FROM t") } } == SQLITE_READONLY)
    }

    @Test func `tells why a file cannot be opened`() throws {
        #expect(code { _ = try DatabaseQueue(path: path + ".none", busyTimeout: 0) } == SQLITE_CANTOPEN)
        let other = folder.path + "/other"
        try Data("no database, but long enough to be one".utf8).write(to: URL(filePath: other))
        let queue = try? DatabaseQueue(path: other, busyTimeout: 0)
        #expect(
            code { try queue?.access { try $0.execute(sql: "SELECT * FROM t") } }
                == (queue == nil ? nil : SQLITE_NOTADB)
        )
    }

    @Test func `takes no text in double quotes, and calls no function of a changed schema`() throws {
        try open().access { (db) throws in
            #expect(code { try db.execute(sql: "SELECT \"no column\"") } != nil)
            #expect(try db.value(sql: "PRAGMA foreign_keys") == 1)
            #expect(try db.value(sql: "PRAGMA trusted_schema") == 0)
            #expect(try db.value(sql: "PRAGMA secure_delete") == 1)
            #expect(try db.tableExists("t") && !db.tableExists("nothing"))
        }
    }

    @Test func `leaves nothing of what was deleted in its file`() throws {
        let queue = try open()
        let secret = "a secret that nobody shall find"
        try queue.access { db in
            try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [secret])
            try db.execute(sql: "DELETE FROM t WHERE x = ?", arguments: [secret])
        }
        try queue.close()
        let file = try Data(contentsOf: URL(filePath: path))
        #expect(file.range(of: Data(secret.utf8)) == nil)
    }

    @Test func `tells no argument in an error`() throws {
        try open().access { db in
            try db.execute(script: "CREATE TABLE s (x INTEGER) STRICT")
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO s VALUES (?)", arguments: ["a secret"])
            }
            #expect(error?.code == SQLITE_CONSTRAINT && error.map { "\($0)".contains("secret") } == false)
        }
    }
}
