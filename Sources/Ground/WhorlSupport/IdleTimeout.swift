// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The time limit of a prompt for a person who does nothing.
package final class IdleTimeout: Sendable {
    private let limit: Duration
    private let state: Mutex<ContinuousClock.Instant>

    /// The time when the limit is reached if the person does nothing more.
    package var deadline: ContinuousClock.Instant { state.withLock(\.self) }

    /// Makes a time limit that starts now, up to some days.
    package init(_ limit: Duration) {
        self.limit = limit
        state = Mutex(.now.advanced(by: limit))
    }

    /// Starts the time again, since the person did something.
    package func restart() {
        state.withLock { $0 = .now.advanced(by: limit) }
    }

    /// Waits until the time limit is reached.
    ///
    /// - Returns: `false` when the task was cancelled before that.
    package func end() async -> Bool {
        while true {
            let end = deadline
            guard end > .now else { return true }
            guard await OffPoolTimer.wait(end - .now) else { return false }
        }
    }
}
