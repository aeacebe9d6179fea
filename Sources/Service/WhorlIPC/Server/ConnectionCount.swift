// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The number of a server's open connections, and waits for the time when there are none.
package final class ConnectionCount: Sendable {
    private struct State {
        var count = 0
        /// Counts the changes, so that a wait sees whether anything came in between.
        var changes = 0
    }

    private let state = Mutex(State())
    private let ends: AsyncStream<Void>
    private let sink: AsyncStream<Void>.Continuation

    package init() { (ends, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// Takes the number after a change.
    package func set(_ count: Int) {
        state.withLock { state in
            state.count = count
            state.changes += 1
        }
        if count == 0 { sink.yield() }
    }

    /// Waits until no connection has been open for as long as `wait` lasts; for one waiter.
    ///
    /// - Parameter wait: Returns after the time for which the server has to be idle.
    package func waitUntilIdle(for wait: () async -> Void) async {
        for await _ in ends {
            let before = state.withLock { ($0.count, $0.changes) }
            guard before.0 == 0 else { continue }
            await wait()
            if state.withLock({ ($0.count, $0.changes) }) == before { return }
        }
    }
}
