// SPDX-License-Identifier: Apache-2.0

/// The rules of a machine for failed tries: the standard ones, or stricter ones.
package struct AttemptRules: Sendable, Hashable {
    /// Five failures in a row lock, for five minutes at first.
    package static let standard = AttemptRules()

    /// The number of failures in a row that locks fingers, 1 to 5.
    package let tries: Int
    /// The length of the first lock where time ends locks, in minutes, 5 to 1440.
    package let firstLockMinutes: Int

    /// Makes rules; a value outside its range counts as the nearest one in it.
    package init(tries: Int = 5, firstLockMinutes: Int = 5) {
        self.tries = min(max(1, tries), 5)
        self.firstLockMinutes = min(max(5, firstLockMinutes), 1440)
    }

    /// Returns the length in milliseconds of the lock with this number (from 1), where time ends locks: each is twice
    /// as long as the one before, and none is longer than a day.
    package func lockLength(number: Int) -> Int64 {
        let doublings = min(max(1, number), 21) - 1
        return min(Int64(firstLockMinutes) * 60_000 << Int64(doublings), 86_400_000)
    }
}
