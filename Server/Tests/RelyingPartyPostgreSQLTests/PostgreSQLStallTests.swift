// SPDX-License-Identifier: Apache-2.0

import Foundation
import RelyingParty
import Testing

@testable import RelyingPartyPostgreSQL

/// The server neither answers nor hangs up, as where it is stopped, its disk stands still, or its standby is gone.
@Suite(
    .enabled(if: PostgreSQLServer.isAvailable, "no PostgreSQL server is installed"),
    .timeLimit(.minutes(2))
)
struct `PostgreSQL that stands still` {
    @Test func `is told of, to who waits in line too, and used again once it goes on`() async throws {
        let (proxy, url) = try PostgreSQLServer.shared.get().proxy()
        // A busy machine may not do even that within the second that it has.
        let store = try await eventually {
            try await PostgreSQLRelyingPartyStore(url: url, connections: 1, patience: 1, ifMissing: .create)
        }
        proxy.hold()
        let watch = Task {
            try await Task.sleep(for: .seconds(30))
            Issue.record("it was waited for without end")
            proxy.cut()
        }
        async let first = refusal(store)
        async let second = refusal(store)
        #expect(await [first, second] == [.store, .store])
        watch.cancel()
        proxy.release()
        #expect(try await eventually { try await store.document("keys") } == nil)
    }

    @Test func `keeps nobody waiting in line for a thread that does not come`() async {
        let line = PostgreSQLLine(patience: .milliseconds(1))
        for _ in 0..<2 {
            let refusal = await withCheckedContinuation { done in
                line.append(PostgreSQLLine.Job(run: { _ in }, refuse: { done.resume(returning: $0) }))
            }
            #expect(refusal.code == .store)
        }
        // A thread that comes then finds the line empty, and goes home when it is closed.
        line.close(threads: 1)
        #expect(line.take() == nil)
    }

    private func refusal(_ store: PostgreSQLRelyingPartyStore) async -> RelyingPartyError.Code? {
        await code { () async throws(RelyingPartyError) in _ = try await store.document("keys") }
    }

    /// The first answer that is none of being late; the suite's time limit ends it.
    private func eventually<Value>(_ body: () async throws -> Value) async throws -> Value {
        while true {
            do { return try await body() } catch { try Task.checkCancellation() }
        }
    }
}
