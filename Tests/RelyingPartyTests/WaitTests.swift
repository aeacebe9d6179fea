// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing

@testable import RelyingParty

/// Operators see a database that is too slow before their users do.
@Suite(.timeLimit(.minutes(2)))
struct `operations that wait for the database` {
    private let bucket = RateBucket(key: "wait", count: 100, seconds: 60)

    /// A connection of another program's, which may keep a transaction open.
    private func writer(_ home: StoreHome) throws -> DatabaseQueue {
        var configuration = GRDB.Configuration()
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: home.path, configuration: configuration)
    }

    @Test func `are counted while another process writes to SQLite`() async throws {
        let home = try StoreHome(.sqlite)
        let store = try SQLiteRelyingPartyStore(path: home.path, ifMissing: .create)
        #expect(store.waiting == StoreWait())
        let other = try writer(home)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        async let first = store.count(bucket, at: 1)
        async let second = store.count(bucket, at: 1)
        while store.waiting.operations < 2 { try await Task.sleep(for: .milliseconds(5)) }
        let longest = store.waiting.longest
        try await Task.sleep(for: .milliseconds(5))
        #expect(store.waiting.longest > longest)
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try await [first, second] == [nil, nil])
        #expect(store.waiting == StoreWait())
    }

    @Test func `are not counted once SQLite has given them up`() async throws {
        let home = try StoreHome(.sqlite)
        let store = try SQLiteRelyingPartyStore(path: home.path, ifMissing: .create)
        let other = try writer(home)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let refusal = await code { () async throws(RelyingPartyError) in
            _ = try await store.count(bucket, at: 1)
        }
        #expect(refusal == .store)
        #expect(store.waiting == StoreWait())
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    }
}
