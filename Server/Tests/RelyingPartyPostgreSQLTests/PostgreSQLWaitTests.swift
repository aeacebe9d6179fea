// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import RelyingParty
@testable import RelyingPartyPostgreSQL

/// Operators see a database that is too slow before their users do.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: PostgreSQLServer.isAvailable, "no PostgreSQL server is installed")
)
struct `operations that wait for PostgreSQL` {
    @Test
    func `are counted while all connections to PostgreSQL are busy`() async throws {
        let (proxy, url) = try PostgreSQLServer.shared.get().proxy()
        let store = try await PostgreSQLRelyingPartyStore(
            url: url,
            connections: 1,
            patience: 5,
            ifMissing: .create
        )
        #expect(store.waiting == StoreWait())
        proxy.hold()
        let asked = (0..<3).map { _ in
            Task { await code { () async throws(RelyingPartyError) in _ = try await store.document("keys") } }
        }
        // One has the connection, two are in line.
        while store.waiting.operations != 2 { try await Task.sleep(for: .milliseconds(5)) }
        let longest = store.waiting.longest
        try await Task.sleep(for: .milliseconds(5))
        #expect(store.waiting.operations == 2 && store.waiting.longest > longest)
        for task in asked { #expect(await task.value == .store) }
        #expect(store.waiting == StoreWait())
        proxy.release()
    }
}
