// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Counts failed passwords by user and by address, each in a window of time.
///
/// It counts in memory: with several instances each counts for itself, and a restart forgets. The number of names it
/// knows is bounded; when strangers fill it, the oldest go first.
final class TryLimit: Sendable {
    private struct Window {
        var begin: Int
        var failures: Int
    }

    private struct State {
        var windows: [String: Window] = [:]
    }

    private let limit: Int
    private let seconds: Int
    private let mostNames: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: So many failures are allowed.
    ///   - seconds: In so many seconds from the first.
    ///   - mostNames: The names that are known at once.
    init(limit: Int, seconds: Int, mostNames: Int = 10_000) {
        self.limit = limit
        self.seconds = seconds
        self.mostNames = mostNames
    }

    /// Charges a try before it is made, so that tries side by side cannot pass the limit together.
    ///
    /// - Returns: `nil` where it may be made, otherwise after how many seconds it may be made again.
    func charge(_ name: String, at now: Int) -> Int? {
        state.withLock { state in
            var window = state.windows[name] ?? Window(begin: now, failures: 0)
            if now - window.begin >= seconds || now < window.begin {
                window = Window(begin: now, failures: 0)
            }
            guard window.failures < limit else { return max(1, window.begin + seconds - now) }
            window.failures += 1
            state.windows[name] = window
            if state.windows.count > mostNames { forgetOldest(&state) }
            return nil
        }
    }

    /// Gives back what ``charge(_:at:)`` took: the try was good.
    func giveBack(_ name: String) {
        state.withLock { state in
            guard let failures = state.windows[name]?.failures else { return }
            state.windows[name]?.failures = max(0, failures - 1)
        }
    }

    /// A tenth at once, so that not every try costs a search.
    private func forgetOldest(_ state: inout State) {
        let oldest = state.windows.sorted { $0.value.begin < $1.value.begin }.prefix(max(1, mostNames / 10))
        for (name, _) in oldest { state.windows[name] = nil }
    }
}
