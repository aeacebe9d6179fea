// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import WhorlSQLite
import Glibc
import WhorlSecretMemory
import Testing

@testable import WhorlStateStore
import WhorlService

struct StateKeyTests {
    /// What can happen to the two files that belong together.
    enum Loss: Sendable, CaseIterable {
        case keyGone, keyShort, keyLong, keyEmpty, keyOfAnother, databaseGone, databaseOfAnother

        var code: ServiceError.Code {
            switch self {
            case .keyGone: .storeKeyMissing
            case .keyShort, .keyLong, .keyEmpty, .keyOfAnother, .databaseOfAnother: .storeKeyDamaged
            case .databaseGone: .storeDamaged
            }
        }

        func apply(_ home: TemporaryDirectory, _ other: TemporaryDirectory) throws {
            let key = URL(fileURLWithPath: home.file("state.key"))
            let database = URL(fileURLWithPath: home.file("whorl.sqlite"))
            switch self {
            case .keyGone: try FileManager.default.removeItem(at: key)
            case .keyShort: try Data(count: 31).write(to: key)
            case .keyLong: try Data(count: 33).write(to: key)
            case .keyEmpty: try Data().write(to: key)
            case .keyOfAnother:
                try Data(contentsOf: URL(fileURLWithPath: other.file("state.key"))).write(to: key)
            case .databaseGone: try FileManager.default.removeItem(at: database)
            case .databaseOfAnother:
                try Data(contentsOf: URL(fileURLWithPath: other.file("whorl.sqlite"))).write(to: database)
            }
            chmod(key.path, 0o600)
            chmod(database.path, 0o600)
        }
    }

    @Test(arguments: Loss.allCases)
    func `a key and a database that do not belong together are refused and left as they are`(loss: Loss)
        throws
    {
        let home = try TemporaryDirectory()
        let other = try TemporaryDirectory()
        _ = try StateDatabase(directory: home.state)
        _ = try StateDatabase(directory: other.state)
        try loss.apply(home, other)
        let before = try contents(of: home.state.path)
        let error = try #require(openingError(home.state))
        #expect(error.code == loss.code)
        #expect(throws: error) { try StateDatabase.openExisting(home.state) }
        #expect(try contents(of: home.state.path) == before)
    }

    @Test func `a first start that ended before the key was made is continued`() throws {
        let home = try TemporaryDirectory()
        mkdir(home.state.path, 0o700)
        try DatabaseOpening.create(home.state)
        #expect(try StateDatabase.openExisting(home.state) == nil)
        _ = try StateDatabase(directory: home.state)
        #expect(try StateDatabase.openExisting(home.state) != nil)
    }

    @Test func `a first start that ended before the key was bound is continued with that key`() throws {
        let home = try TemporaryDirectory()
        mkdir(home.state.path, 0o700)
        try DatabaseOpening.create(home.state)
        let key = try FileKeySource(directory: home.state).loadOrCreate()
        #expect(try StateDatabase.openExisting(home.state) == nil)
        let database = try StateDatabase(directory: home.state)
        #expect(database.keys.check == StateKeys(stateKey: key).check)
    }

    @Test func `a database in use whose check value was taken out gets no new key`() async throws {
        let home = try TemporaryDirectory()
        let database = try StateDatabase(directory: home.state)
        try await database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO profiles (name, generation, manifest_mac, created_at)
                    VALUES ('p', 1, x'00', 0)
                    """
            )
            try db.execute(sql: "UPDATE identity SET key_check = NULL")
        }
        #expect(openingError(home.state)?.code == .storeKeyMissing)
    }

    @Test func `starters at the same moment agree on one key`() async throws {
        let home = try TemporaryDirectory()
        let directory = home.state
        let keys = try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<8 {
                group.addTask { try StateDatabase(directory: directory).keys.check }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(keys.count == 8)
        #expect(keys.allSatisfy { $0 == keys[0] })
        #expect(try contents(of: home.state.path).keys.filter { $0.hasSuffix(".new") }.isEmpty)
    }

    /// Computed with another implementation: HKDF-SHA-256 without salt, key 00 01 … 1f.
    @Test(arguments: [
        (KeyPurpose.templates, "c8f7d6402e9092ff2e703d59e190494b055caed1dc4f228b9e95684bccd5b4fe"),
        (.manifest, "efb89ce6102e0038ce807fa48cf7aa19e1a34230856190c39ddacbffa6e6bc01"),
        (.domainState, "cde337a550461321f0a978195e6b8d6e40cdd0f05f23c56567ddacbe7d58c32b"),
        (.reuse, "7b55b381a992bd40192f36091253686c4a3d867588a952640ea880bf9d241694"),
        (.check, "d62e208a0c803ce98a31221059bf6518c7b9bc3840246f12e4ff6f5c417070cd"),
    ])
    func `keys for purposes are fixed, and differ`(purpose: KeyPurpose, hex: String) {
        let secret = SecretBytes(count: 32) { $0.copyBytes(from: 0..<32) }
        let key = StateKeys(stateKey: secret).plainKey(purpose)
        #expect(key.withUnsafeBytes { $0.map { String(format: "%02x", $0) }.joined() } == hex)
    }
}
