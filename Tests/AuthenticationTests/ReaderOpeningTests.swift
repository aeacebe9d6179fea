// SPDX-License-Identifier: Apache-2.0

import WhorlEnrollment
import WhorlFingerprint
import Synchronization
import Testing

@testable import WhorlEngine

// Docs/Security.md: S27
@Suite(.timeLimit(.minutes(10))) struct `A driver that does not come back from opening its reader` {
    private let reader: ScriptedReader
    private let isWaiting: Gate
    private let opener: AsyncStream<Void>.Continuation

    init() {
        let (door, opener) = AsyncStream.makeStream(of: Void.self)
        let isWaiting = Gate()
        self.isWaiting = isWaiting
        self.opener = opener
        reader = ScriptedReader(
            [],
            whileOpening: {
                isWaiting.isPassed.store(true, ordering: .relaxed)
                // A task of its own is not cancelled with the caller's.
                await Task { for await _ in door {} }.value
            }
        )
    }

    private final class Gate: Sendable { let isPassed = Atomic(false) }

    private func error(_ wait: Duration, _ limit: Duration) async -> ReaderError.Code? {
        do throws(ReaderError) {
            _ = try await ReaderOpening.open(reader, waiting: wait, limit: limit)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `is given up after the time limit, and its reader is closed if it comes back later`()
        async throws
    {
        #expect(await error(.seconds(600), .milliseconds(10)) == .malfunction)
        #expect(!reader.isOpen)
        // It still has the reader's turn.
        let next = Task { try await ReaderTurns.take("another", on: reader) }
        opener.finish()
        _ = try await next.value
        #expect(!reader.isOpen)
    }

    @Test func `does not keep a cancelled evaluation`() async throws {
        let task = Task { await error(.seconds(600), .seconds(600)) }
        try await eventually { isWaiting.isPassed.load(ordering: .relaxed) }
        task.cancel()
        #expect(await task.value == .cancelled)
        opener.finish()
    }

    @Test func `keeps its turn, and the next evaluation ends with "in use" after its own limit`() async {
        _ = await error(.seconds(600), .milliseconds(10))
        #expect(await error(.milliseconds(10), .seconds(600)) == .inUse)
        opener.finish()
    }
}
