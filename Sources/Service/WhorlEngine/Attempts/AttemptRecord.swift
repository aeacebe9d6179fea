// SPDX-License-Identifier: Apache-2.0

package import WhorlStateStore
package import WhorlService

/// One profile's attempt counters, and the rules by which they change.
///
/// This is a plain value, which ``AttemptLedger`` stores on disk.
///
/// - An attempt is *reserved* before its scan and *settled* after it. A reservation that a terminated process has left
///   counts as a failure, so that killing a process between its scan and the bookkeeping is pointless.
/// - After five failures in a row, fingers are locked out. The machine's ``AttemptRules`` may allow fewer, which then
///   count as five. Only verifying the passcode ends the lockout. If no passcode is set, it ends after 5 minutes. Each
///   further lockout without a success in between lasts twice as long, up to 24 hours.
/// - After a timed lockout, *one* attempt is left. A failure starts another lockout, and a match resets all counters to
///   zero. So a stranger has one attempt after each waiting time, and the waiting times get longer.
package struct AttemptRecord: Sendable, Hashable {
    /// The number of failures after which fingers are locked out.
    package static let limit = 5

    /// The number of failures since the last match or verified passcode; from ``limit`` on, fingers are locked out.
    package private(set) var failures: Int
    /// The total number of failures.
    ///
    /// It never decreases.
    package private(set) var totalFailures: Int
    /// The number of lockouts since the last match or verified passcode, which determines the duration of the next one.
    package private(set) var lockouts: Int
    /// Whether a scan has been reserved but not settled.
    package private(set) var isPending: Bool
    /// The time when the current lockout began; `nil` if fingers are not locked out.
    package private(set) var lockedAt: Moment?
    /// The machine's rules, which are not stored with the record.
    package let rules: AttemptRules

    /// Creates a record from stored values; a negative number of failures means that fingers are locked out.
    package init(
        failures: Int = 0,
        totalFailures: Int = 0,
        lockouts: Int = 0,
        isPending: Bool = false,
        lockedAt: Moment? = nil,
        rules: AttemptRules = .standard
    ) {
        self.rules = rules
        self.failures = failures < 0 ? AttemptRecord.limit : failures
        self.totalFailures = min(max(0, totalFailures), 1 << 40)
        self.lockouts = min(max(0, lockouts), 1 << 40)
        self.isPending = isPending
        self.lockedAt = lockedAt
    }

    /// Returns the record of a profile without attempts, under a machine's rules.
    package static func fresh(under rules: AttemptRules = .standard) -> AttemptRecord {
        AttemptRecord(rules: rules)
    }

    /// The number of further failures after which fingers are locked out.
    package var remaining: Int {
        // One attempt is left after the rules became stricter or a timed lock ended.
        failures >= AttemptRecord.limit ? 0 : max(1, rules.tries - failures)
    }

    /// Returns whether fingers are locked out, and for how long.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - endsByTime: Whether a lockout ends after a time, because no passcode is set.
    /// - Returns: The state of the lockout at that time.
    package func lock(at now: Moment, endsByTime: Bool) -> LockState {
        guard failures >= AttemptRecord.limit else { return .open }
        guard endsByTime else { return .untilPasscode }
        let length = rules.lockLength(number: lockouts)
        // If the beginning is unknown, no time is certain to have passed.
        let left = length - (lockedAt.map(now.certainlyAfter) ?? 0)
        return left > 0 ? .for(.milliseconds(left)) : .open
    }

    /// Reserves the next scan unless fingers are locked out.
    ///
    /// Call this function only while holding the profile's lock, because a pending reservation is assumed to belong to
    /// a terminated process. The record may change even if fingers are locked out, so always store it afterwards.
    package mutating func reserve(at now: Moment, endsByTime: Bool) -> LockState {
        if isPending { charge(at: now) }
        let lock = lock(at: now, endsByTime: endsByTime)
        switch lock {
        case .open:
            // After a timed lock has ended, one attempt is left.
            failures = min(failures, AttemptRecord.limit - 1)
            lockedAt = nil
            isPending = true
        case .for, .untilPasscode: break
        }
        return lock
    }

    /// Counts the reserved scan as a failure, because it did not match.
    package mutating func charge(at now: Moment) {
        isPending = false
        failures = min(failures, AttemptRecord.limit - 1) + 1
        totalFailures += 1
        guard failures >= rules.tries else { return }
        failures = AttemptRecord.limit
        lockouts += 1
        lockedAt = now
    }

    /// Drops the reservation of a scan without a result, which is a retry, a cancellation, a timeout or an error.
    package mutating func release() { isPending = false }

    /// Resets the failure count, because the reserved scan matched.
    package mutating func reset() {
        unlock()
        isPending = false
    }

    /// Resets the failure count, because the passcode was verified.
    ///
    /// The reservation of a scan in progress is not changed.
    package mutating func unlock() {
        failures = 0
        lockouts = 0
        lockedAt = nil
    }
}

/// Whether fingers are locked out after too many failures.
package enum LockState: Sendable, Hashable {
    /// Fingers are not locked out.
    case open
    /// Fingers are locked out for the given time.
    case `for`(Duration)
    /// Fingers are locked out until the passcode is verified.
    case untilPasscode
}
