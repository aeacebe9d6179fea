// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSQLite
import Glibc
import Testing

@testable import WhorlStateStore
import WhorlService

// Docs/Security.md: S39
/// Whatever is wrong with the files: a typed error, and not a byte of them is changed.
struct DamagedDatabaseTests {
    /// The version of a database that a later program wrote.
    static let newer = UInt8(Schema.version + 1)

    /// What is done to a sound database.
    enum Damage: Sendable, CustomTestStringConvertible {
        case cut(to: Int)
        case cutBy(Int)
        case garbage
        case zeros
        case byte(at: Int, UInt8)
        case page(Int)

        func apply(to data: Data) -> Data {
            var data = data
            switch self {
            case .cut(let size): return data.prefix(size)
            case .cutBy(let size): return data.dropLast(size)
            case .garbage:
                var generator = SystemRandomNumberGenerator()
                return Data((0..<data.count).map { _ in UInt8.random(in: 0...255, using: &generator) })
            case .zeros: return Data(count: data.count)
            case .byte(let offset, let value): data[offset] = value
            case .page(let number):
                data.replaceSubrange(
                    number * 4096..<(number + 1) * 4096,
                    with: Data(repeating: 0xAA, count: 4096)
                )
            }
            return data
        }

        var testDescription: String { "\(self)" }
    }

    static let cuts: [Damage] =
        [0, 1, 15, 16, 59, 99, 100, 101, 511, 512, 4095, 4096, 8192, 20_000].map { .cut(to: $0) }
        + [1, 100, 4096].map { .cutBy($0) }

    static let table: [(Damage, ServiceError.Code)] =
        cuts.map { ($0, .storeDamaged) }
        + [
            (.garbage, .storeDamaged), (.zeros, .storeDamaged), (.page(2), .storeDamaged),
            (.page(5), .storeDamaged),
            (.byte(at: 16, 3), .storeDamaged),
            // user_version lies at 60...63, application_id at 68...71.
            (.byte(at: 63, newer), .storeNewer), (.byte(at: 60, 1), .storeNewer),
            (.byte(at: 63, 0), .storeDamaged),
            (.byte(at: 68, 0), .storeForeign),
        ]

    @Test(arguments: table)
    func `a damaged, newer or foreign database is refused and left as it is`(
        damage: Damage,
        code: ServiceError.Code
    ) throws {
        let home = try TemporaryDirectory()
        _ = try StateDatabase(directory: home.state)
        let file = URL(fileURLWithPath: home.file("whorl.sqlite"))
        try damage.apply(to: try Data(contentsOf: file)).write(to: file)
        chmod(file.path, 0o600)
        let before = try contents(of: home.state.path)

        let error = try #require(openingError(home.state))
        #expect(error.code == code, "\(error)")
        #expect(try contents(of: home.state.path) == before)
        #expect(throws: ServiceError.self) { try StateDatabase.openExisting(home.state) }
        #expect(try contents(of: home.state.path) == before)
    }

    @Test func `another program's database is refused and left as it is`() throws {
        let home = try TemporaryDirectory()
        _ = try StateDatabase(directory: home.state)
        try FileManager.default.removeItem(atPath: home.file("whorl.sqlite"))
        #expect(FileManager.default.createFile(atPath: home.file("whorl.sqlite"), contents: Data()))
        chmod(home.file("whorl.sqlite"), 0o600)
        let other = try DatabaseQueue(path: home.file("whorl.sqlite"), busyTimeout: 0)
        try other.access { try $0.execute(sql: "CREATE TABLE t (x)") }
        try other.close()
        let before = try contents(of: home.state.path)
        #expect(openingError(home.state)?.code == .storeForeign)
        #expect(try contents(of: home.state.path) == before)
    }

    @Test func `a lost table is damage`() throws {
        let home = try TemporaryDirectory()
        _ = try StateDatabase(directory: home.state)
        let raw = try DatabaseQueue(path: home.file("whorl.sqlite"), busyTimeout: 0)
        try raw.access { try $0.execute(sql: "DROP TABLE attempts") }
        try raw.close()
        #expect(openingError(home.state)?.code == .storeDamaged)
    }

    @Test(arguments: [("application_id", ServiceError.Code.storeForeign), ("user_version", .storeNewer)])
    func `a log that makes a number of the database negative is refused`(
        number: String,
        code: ServiceError.Code
    ) throws {
        let home = try TemporaryDirectory()
        _ = try StateDatabase(directory: home.state)
        let raw = try DatabaseQueue(path: home.file("whorl.sqlite"), busyTimeout: 0)
        try raw.access { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            try db.execute(sql: "PRAGMA \(number) = -5")
        }
        // The connection stays open, so that the change is in the log alone.
        var files = try contents(of: home.state.path)
        #expect(files["whorl.sqlite-wal"]?.isEmpty == false)
        files["whorl.sqlite-shm"] = nil
        let copy = try put(files)
        #expect(openingError(copy.state)?.code == code)
        try raw.close()
    }

    /// The files as a killed process leaves them: the log holds what the database does not.
    private func abandoned(_ home: TemporaryDirectory) async throws -> [String: Data] {
        let database = try StateDatabase(directory: home.state)
        for number in 0..<50 { try await database.log("\(number)") }
        var files = try contents(of: home.state.path)
        #expect((files["whorl.sqlite-wal"]?.count ?? 0) > 4096)
        files["whorl.sqlite-shm"] = nil
        return files
    }

    private func put(_ files: [String: Data]) throws -> TemporaryDirectory {
        let home = try TemporaryDirectory()
        mkdir(home.state.path, 0o700)
        for (name, data) in files {
            try data.write(to: URL(fileURLWithPath: home.file(name)))
            chmod(home.file(name), 0o600)
        }
        return home
    }

    @Test func `what a killed process left in the log is there`() async throws {
        let home = try put(try await abandoned(try TemporaryDirectory()))
        let database = try #require(try StateDatabase.openExisting(home.state))
        #expect(try await database.events().count == 50)
    }

    @Test(arguments: [Damage.page(2), .page(5), .cut(to: 8192), .garbage, .byte(at: 63, newer)])
    func `a damaged database beside a log is left as it is, and so is the log`(damage: Damage) async throws {
        var files = try await abandoned(try TemporaryDirectory())
        files["whorl.sqlite"] = files["whorl.sqlite"].map(damage.apply)
        let home = try put(files)
        #expect(openingError(home.state) != nil)
        var after = try contents(of: home.state.path)
        after["whorl.sqlite-shm"] = nil
        #expect(after == files)
    }

    @Test func `a newer version's change that is only in the log is found`() async throws {
        let old = try TemporaryDirectory()
        let database = try StateDatabase(directory: old.state)
        try await database.write { try $0.execute(sql: "PRAGMA user_version = 99") }
        var files = try contents(of: old.state.path)
        files["whorl.sqlite-shm"] = nil
        let home = try put(files)
        #expect(openingError(home.state)?.code == .storeNewer)
        var after = try contents(of: home.state.path)
        after["whorl.sqlite-shm"] = nil
        #expect(after == files)
    }
}
