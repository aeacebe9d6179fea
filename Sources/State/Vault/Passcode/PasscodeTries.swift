// SPDX-License-Identifier: Apache-2.0

package import StateStore

/// What is known about the passcodes that were tried for one profile, and the rules by which it changes.
///
/// It is a plain value. Five wrong ones in a row are free; before each further one there is a wait, which grows.
/// So a guesser uses up the chip's own limit, which disk encryption shares, slowly or not at all.
package struct PasscodeTries: Sendable, Hashable {
    /// Wrong ones in a row that cost no wait.
    static let free = 5
    /// The waits before the sixth, the seventh, … try, in milliseconds: 1, 5, 15 minutes, 1, 3, 8 hours; then
    /// always the last.
    static let waits: [Int64] = [60, 300, 900, 3600, 10800, 28800].map { $0 * 1000 }

    /// Tries since the last right one, those without an answer included.
    package private(set) var failures: Int
    /// When the last of them was.
    package private(set) var last: Moment?

    package init(failures: Int = 0, last: Moment? = nil) {
        // What is no number of tries is as many as there can be.
        self.failures = failures < 0 ? PasscodeTries.free + PasscodeTries.waits.count : min(failures, 1 << 40)
        self.last = last
    }

    /// How long no passcode is compared; `nil` when one may be tried now.
    package func wait(at now: Moment) -> Duration? {
        guard failures >= PasscodeTries.free else { return nil }
        let length = PasscodeTries.waits[min(failures - PasscodeTries.free, PasscodeTries.waits.count - 1)]
        // Without a beginning nothing has certainly passed.
        let left = length - (last.map(now.certainlyAfter) ?? 0)
        return left > 0 ? .milliseconds(left) : nil
    }

    /// How many more wrong ones cost no wait.
    package var left: Int { max(0, PasscodeTries.free - failures) }

    /// Takes the next try before it is made, or says how long there is none.
    package mutating func reserve(at now: Moment) -> Duration? {
        if let wait = wait(at: now) { return wait }
        failures += 1
        last = now
        return nil
    }

    /// The reserved try was not made after all: the chip was asked nothing.
    mutating func release() { failures = max(0, failures - 1) }
}
