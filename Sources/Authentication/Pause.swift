// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A time limit that needs no thread of the shared pool.
///
/// The time limits of an evaluation must come to their end while a program blocks every thread of the pool, waiting for
/// that evaluation perhaps. `Task.sleep` needs one of them to wake up.
package final class Pause: Sendable {
    private enum State {
        case running(then: (@Sendable () -> Void)?)
        case passed
        case cancelled
    }

    /// A serial queue gets a thread even when every thread of the shared pool waits.
    private static let queue = DispatchQueue(label: "whorl.pause")

    private let state = Mutex(State.running(then: nil))
    /// Not checked: dispatch objects may be used from any thread, although their protocol does not say so.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    /// Begins now and ends after so long; what is longer than a hundred years counts as that.
    package init(_ duration: Duration) {
        timer = DispatchSource.makeTimerSource(queue: Pause.queue)
        timer.setEventHandler { [weak self] in self?.pass() }
        timer.schedule(deadline: .now() + Pause.interval(duration))
        timer.activate()
    }

    deinit { timer.cancel() }

    /// Does something at the end, at once where it has come; nothing after ``cancel()``.
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
        let pause = Pause(duration)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        pause.onEnd { end.finish() }
        // A cancelled task's stream ends, too.
        for await _ in ends {}
        return !pause.cancel()
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

/// The executor that the present task prefers; `nil` means the shared pool.
///
/// It is for a task that has to run where this one does: its caller may be on a thread of his own while no thread of
/// the pool is free.
package var currentExecutor: (any TaskExecutor)? {
    withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
}
