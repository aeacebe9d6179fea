// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The time of the next removal of expired rows: requests do it on their way, so that a server needs no timer.
final class PurgeSchedule: Sendable {
    /// The pause between two purges in seconds, if nothing is left to remove.
    private static let pause = 30

    private struct State {
        var due = 0
        var isRunning = false
    }

    private let state = Mutex(State())

    /// Whether the caller is to purge now; it calls ``finished(moreIsLeft:at:)`` afterwards.
    func begins(at now: Int) -> Bool {
        state.withLock {
            // A clock that was set back must not delay the purge.
            guard !$0.isRunning, now >= $0.due || now < $0.due - Self.pause else { return false }
            $0.isRunning = true
            return true
        }
    }

    /// Ends a purge; the next one is due at once if more is left.
    func finished(moreIsLeft: Bool, at now: Int) {
        state.withLock { $0 = State(due: moreIsLeft ? now : now + Self.pause) }
    }
}
