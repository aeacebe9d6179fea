// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlSupport

/// How long a prompt waits for a person who does nothing.
package final class Patience: Sendable {
    private let limit: Duration
    private let state: Mutex<ContinuousClock.Instant>

    /// When it ends, if the person does nothing more.
    package var deadline: ContinuousClock.Instant { state.withLock(\.self) }

    /// Waits from now on for so long, up to some days.
    package init(_ limit: Duration) {
        self.limit = limit
        state = Mutex(.now.advanced(by: limit))
    }

    /// Begins to wait anew: the person did something.
    package func restart() {
        state.withLock { $0 = .now.advanced(by: limit) }
    }

    /// Returns when nothing happened for too long.
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
