// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// When rows that are over are removed next: requests do it on their way, so that a server needs no timer.
final class PurgeSchedule: Sendable {
    /// How often, in seconds, where nothing is left behind.
    private static let pause = 30

    private struct State {
        var due = 0
        var isRunning = false
    }

    private let state = Mutex(State())

    /// Whether the caller is to purge now; it says ``finished(moreIsLeft:at:)`` afterwards.
    func begins(at now: Int) -> Bool {
        state.withLock {
            // A clock that was set back must not put it off.
            guard !$0.isRunning, now >= $0.due || now < $0.due - Self.pause else { return false }
            $0.isRunning = true
            return true
        }
    }

    /// The next one is due at once where more is left.
    func finished(moreIsLeft: Bool, at now: Int) {
        state.withLock { $0 = State(due: moreIsLeft ? now : now + Self.pause) }
    }
}
