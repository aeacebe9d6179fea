// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// A timer that works without a thread of Swift's shared pool.
///
/// A time limit must expire even while a program blocks every thread of the pool, perhaps to wait for the very work
/// that is limited. `Task.sleep` needs one of those threads to wake up.
package final class OffPoolTimer: Sendable {
    private enum State {
        case running(then: (@Sendable () -> Void)?)
        case passed
        case cancelled
    }

    /// A serial queue, which gets a thread even if every thread of the shared pool is blocked.
    private static let queue = DispatchQueue(label: "whorl.timer")

    private let state = Mutex(State.running(then: nil))
    /// The underlying timer; unchecked, because dispatch objects can be used on any thread although their protocol does
    /// not say so.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    /// Starts a timer that ends after `duration`, or after a hundred years if that is shorter.
    package init(_ duration: Duration) {
        timer = DispatchSource.makeTimerSource(queue: OffPoolTimer.queue)
        timer.setEventHandler { [weak self] in self?.pass() }
        timer.schedule(deadline: .now() + OffPoolTimer.interval(duration))
        timer.activate()
    }

    deinit { timer.cancel() }

    /// Calls `body` when the timer ends, or immediately if it has already ended, but never after ``cancel()``.
    package func onEnd(_ body: @escaping @Sendable () -> Void) {
        let hasPassed = state.withLock { state in
            switch state {
            case .running:
                state = .running(then: body)
                return false
            case .passed: return true
            case .cancelled: return false
            }
        }
        if hasPassed { body() }
    }

    /// Cancels the timer.
    ///
    /// - Returns: `false` if the timer has already ended.
    @discardableResult
    package func cancel() -> Bool {
        timer.cancel()
        return state.withLock { state in
            switch state {
            case .running, .cancelled:
                state = .cancelled
                return true
            case .passed: return false
            }
        }
    }

    /// Waits for the given duration.
    ///
    /// - Returns: `true` if the time passed; `false` if the task was cancelled first.
    package static func wait(_ duration: Duration) async -> Bool {
        let timer = OffPoolTimer(duration)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        timer.onEnd { end.finish() }
        // The stream also ends when the task is cancelled.
        for await _ in ends {}
        return !timer.cancel()
    }

    /// Waits for the given duration, even in a cancelled task.
    package static func waitUncancelled(_ duration: Duration) async {
        await withCheckedContinuation { woken in run(after: duration) { woken.resume() } }
    }

    /// Waits until the work has ended or the time limit has expired; a cancelled task does not wait.
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait. Work that takes longer continues.
    ///   - start: Starts the work, which calls the given function when it ends.
    package static func wait(
        atMost limit: Duration,
        until start: (@escaping @Sendable () -> Void) -> Void
    ) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        start { end.finish() }
        run(after: limit) { end.finish() }
        for await _ in ends {}
    }

    /// Calls `body` after the given duration; `body` must return soon, because other timers wait for it.
    package static func run(after duration: Duration, _ body: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + interval(duration), execute: body)
    }

    private func pass() {
        let body = state.withLock { state -> (@Sendable () -> Void)? in
            guard case .running(let body) = state else { return nil }
            state = .passed
            return body
        }
        body?()
    }

    private static func interval(_ duration: Duration) -> DispatchTimeInterval {
        let milliseconds = duration / .milliseconds(1)
        return .milliseconds(Int(max(0, min(milliseconds.rounded(.up), 3e12))))
    }
}

/// The time limit of a prompt, which expires if the user does nothing.
package final class IdleTimeout: Sendable {
    private let limit: Duration
    private let state: Mutex<ContinuousClock.Instant>

    /// The time when the limit expires unless the user does something before then.
    package var deadline: ContinuousClock.Instant { state.withLock(\.self) }

    /// Creates a time limit that starts now; it may be up to a few days.
    package init(_ limit: Duration) {
        self.limit = limit
        state = Mutex(.now.advanced(by: limit))
    }

    /// Restarts the time limit, because the user did something.
    package func restart() {
        state.withLock { $0 = .now.advanced(by: limit) }
    }

    /// Waits until the time limit expires.
    ///
    /// - Returns: `false` if the task was cancelled first.
    package func end() async -> Bool {
        while true {
            let end = deadline
            guard end > .now else { return true }
            guard await OffPoolTimer.wait(end - .now) else { return false }
        }
    }
}
