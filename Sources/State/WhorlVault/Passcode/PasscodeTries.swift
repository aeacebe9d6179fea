// SPDX-License-Identifier: Apache-2.0

package import StateStore

/// The count of the passcode tries for one profile, and the rules by which it changes.
///
/// It is a plain value. Five wrong tries in a row are free; each further try needs a wait, which grows.
/// So a guesser uses up the chip's own limit, which disk encryption shares, slowly or not at all.
package struct PasscodeTries: Sendable, Hashable {
    /// The number of wrong tries in a row without a wait.
    static let free = 5
    /// The waits before the sixth, the seventh, … try, in milliseconds: 1, 5, 15 minutes, 1, 3, 8 hours; then
    /// always the last.
    static let waits: [Int64] = [60, 300, 900, 3600, 10800, 28800].map { $0 * 1000 }

    /// The number of tries since the last right one, including those without an answer.
    package private(set) var failures: Int
    /// The time of the last of these tries.
    package private(set) var last: Moment?

    package init(failures: Int = 0, last: Moment? = nil) {
        // An invalid number of tries counts as the highest.
        self.failures = failures < 0 ? PasscodeTries.free + PasscodeTries.waits.count : min(failures, 1 << 40)
        self.last = last
    }

    /// Returns the time to wait until the next try; `nil` when one may be made now.
    package func wait(at now: Moment) -> Duration? {
        guard failures >= PasscodeTries.free else { return nil }
        let length = PasscodeTries.waits[min(failures - PasscodeTries.free, PasscodeTries.waits.count - 1)]
        // Without the time of the last try, no time has certainly passed.
        let left = length - (last.map(now.certainlyAfter) ?? 0)
        return left > 0 ? .milliseconds(left) : nil
    }

    /// The number of further wrong tries without a wait.
    package var left: Int { max(0, PasscodeTries.free - failures) }

    /// Counts the next try before it is made, or returns the time to wait for it.
    package mutating func reserve(at now: Moment) -> Duration? {
        if let wait = wait(at: now) { return wait }
        failures += 1
        last = now
        return nil
    }

    /// Takes back the reserved try, which was not made: the chip compared nothing.
    mutating func release() { failures = max(0, failures - 1) }
}
