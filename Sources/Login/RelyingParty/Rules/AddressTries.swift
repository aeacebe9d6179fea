// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The tries of each address within a window of time, at this instance.
///
/// They are not in the store: such a limit only keeps the server from being flooded, and strangers must not be able to
/// make it write.
final class AddressTries: Sendable {
    /// The maximum number of addresses that are counted.
    private static let most = 65_536

    private struct Window {
        var endsAt: Int
        var count: Int
    }

    private let windows = Mutex<[String: Window]>([:])

    /// The number of addresses that are counted.
    var addresses: Int { windows.withLock { $0.count } }

    /// Counts a try.
    ///
    /// - Returns: The seconds to wait if the limit is reached; `nil` otherwise.
    func count(_ bucket: RateBucket, at now: Int) -> Int? {
        windows.withLock { windows in
            let ends = now + bucket.seconds
            if windows[bucket.key] == nil, windows.count >= Self.most {
                windows = windows.filter { ((now + 1)...ends).contains($0.value.endsAt) }
                // A client with that many networks is not stopped by counting them.
                if windows.count >= Self.most { windows = [:] }
            }
            var window = windows[bucket.key] ?? Window(endsAt: ends, count: 0)
            // A window that ends later than the limit allows was made before the clock was set back.
            if !((now + 1)...ends).contains(window.endsAt) { window = Window(endsAt: ends, count: 0) }
            guard window.count < bucket.count else { return window.endsAt - now }
            window.count += 1
            windows[bucket.key] = window
            return nil
        }
    }
}
