// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// A time limit that needs no thread of Swift's shared pool.
///
/// A time limit must come to its end while a program blocks every thread of the pool, perhaps waiting for the very
/// work that is limited. `Task.sleep` needs one of them to wake up.
package final class OffPoolTimer: Sendable {
    private enum State {
        case running(then: (@Sendable () -> Void)?)
        case passed
        case cancelled
    }

    /// A serial queue gets a thread even when every thread of the shared pool waits.
    private static let queue = DispatchQueue(label: "whorl.timer")

    private let state = Mutex(State.running(then: nil))
    /// Not checked: dispatch objects may be used from any thread, although their protocol does not say so.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    /// Begins now and ends after so long; a time longer than a hundred years counts as that.
    package init(_ duration: Duration) {
        timer = DispatchSource.makeTimerSource(queue: OffPoolTimer.queue)
        timer.setEventHandler { [weak self] in self?.pass() }
        timer.schedule(deadline: .now() + OffPoolTimer.interval(duration))
        timer.activate()
    }

    deinit { timer.cancel() }

    /// Calls `body` at the end, at once if that has come; never after ``cancel()``.
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

    /// Keeps the end from coming.
    ///
    /// - Returns: `false` when it has come already.
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

    /// Waits for so long.
    ///
    /// - Returns: Whether the time passed; `false` when the task was cancelled before.
    package static func wait(_ duration: Duration) async -> Bool {
        let timer = OffPoolTimer(duration)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        timer.onEnd { end.finish() }
        // A cancelled task's stream ends, too.
        for await _ in ends {}
        return !timer.cancel()
    }

    /// Waits for so long, also in a cancelled task.
    package static func waitUncancelled(_ duration: Duration) async {
        await withCheckedContinuation { woken in run(after: duration) { woken.resume() } }
    }

    /// Calls `body` after so long; it must return soon, since other timers wait for it.
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
