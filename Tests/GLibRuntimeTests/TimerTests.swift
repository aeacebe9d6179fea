// SPDX-License-Identifier: Apache-2.0

import WhorlGLib
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A timer on the GLib thread` {
    @Test func `ticks again and again, on that thread`() async {
        let (ticks, ticked) = AsyncStream.makeStream(of: Bool.self)
        let timer = RepeatingTimer(milliseconds: 1) {
            ticked.yield(GLibExecutor.shared.isIsolatingCurrentContext() == true)
        }
        var count = 0
        for await isOnGLibThread in ticks {
            #expect(isOnGLibThread)
            count += 1
            if count == 5 { break }
        }
        withExtendedLifetime(timer) {}
    }

    @Test func `is silent when it is dead, and lets go of what it called`() async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        var timer: RepeatingTimer? = RepeatingTimer(milliseconds: 1, onTick: tick(with: Ending(end)))
        _ = timer
        timer = nil
        for await _ in ends {}
    }

    /// Ends a stream when it dies.
    private final class Ending: Sendable {
        private let end: AsyncStream<Void>.Continuation
        init(_ end: AsyncStream<Void>.Continuation) { self.end = end }
        deinit { end.finish() }
    }

    private func tick(with ending: Ending) -> @Sendable () -> Void {
        { withExtendedLifetime(ending) {} }
    }
}

@Suite struct `A task on the GLib thread` {
    @Test func `begins and goes on there`() async {
        let isThere = await Task(executorPreference: GLibTaskExecutor.shared) {
            let before = GLibExecutor.shared.isIsolatingCurrentContext()
            await Task.yield()
            return before == true && GLibExecutor.shared.isIsolatingCurrentContext() == true
        }.value
        #expect(isThere)
    }
}
