// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Synchronization

/// The events of one operation, in their order, and a way to wait for the next request for a finger.
final class EventLog: Sendable {
    private let recorded = Mutex<[ScanEvent]>([])
    private let touches: AsyncStream<Void>
    private let touched: AsyncStream<Void>.Continuation

    init() { (touches, touched) = AsyncStream.makeStream() }

    /// What an operation takes as its observer.
    var observer: ScanObserver {
        { event in
            self.recorded.withLock { $0.append(event) }
            if event == .touch { self.touched.yield() }
        }
    }

    var events: [ScanEvent] { recorded.withLock { $0 } }

    func count(_ event: ScanEvent) -> Int { events.count { $0 == event } }

    /// No more events come: whoever waits for a touch goes on.
    func finish() { touched.finish() }

    /// Waits for the next `.touch`, once for each.
    func nextTouch() async throws {
        let touches = touches
        let came = try await withDeadline("touch") { await touches.first { _ in true } != nil }
        try require(came, "the operation ended before it asked for a finger")
    }

    /// Calls `hand` for each `.touch` until the operation ends.
    func forEachTouch(_ hand: @Sendable (Int) async throws -> Void) async throws {
        var count = 0
        for await _ in touches {
            try await hand(count)
            count += 1
        }
    }
}
