// SPDX-License-Identifier: Apache-2.0

package import WhorlStateStore
package import WhorlService

/// The attempt counters of one profile, and the rules by which they change.
///
/// This is a plain value: ``AttemptLedger`` stores it on disk.
///
/// - An attempt is *reserved* before its scan and *settled* after it. A reservation left behind by a process that died
///   counts as a failure, so that killing a process between scan and bookkeeping gains nothing.
/// - Five failures in a row lock fingers. The machine's ``AttemptRules`` may allow fewer, which then count as five.
///   Only a verified passcode unlocks. If no passcode is set, the lock ends by time: after 5 minutes, twice as long
///   each time it locks again without a success in between, at most 24 hours.
/// - After a timed lock, *one* attempt is left: a failure locks again, a match resets everything to zero. A stranger
///   gets one attempt after each waiting time, and the waiting times get longer.
package struct AttemptRecord: Sendable, Hashable {
    /// The number of failures that locks fingers.
    package static let limit = 5

    /// Failures since the last match or verified passcode; fingers are locked at ``limit`` and above.
    package private(set) var failures: Int
    /// The number of failures since the beginning.
    ///
    /// It never decreases.
    package private(set) var totalFailures: Int
    /// The number of locks since the last match or verified passcode, which determines the length of the next lock.
    package private(set) var lockouts: Int
    /// Whether a scan is reserved but not settled.
    package private(set) var isPending: Bool
    /// The time when the current lock began; `nil` if fingers are not locked.
    package private(set) var lockedAt: Moment?
    /// The machine's rules, which are not stored with the record.
    package let rules: AttemptRules

    /// Creates a record from stored values; a negative number of failures means locked.
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

    /// Returns the record of a profile without any attempts, under a machine's rules.
    package static func fresh(under rules: AttemptRules = .standard) -> AttemptRecord {
        AttemptRecord(rules: rules)
    }

    /// The number of failures left before fingers are locked.
    package var remaining: Int {
        // One attempt is left after the rules became stricter or a timed lock ended.
        failures >= AttemptRecord.limit ? 0 : max(1, rules.tries - failures)
    }

    /// Returns whether fingers are locked, and for how long.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - endsByTime: Whether no passcode is set, so that a lock ends by time.
    /// - Returns: The state of the lock at that time.
    package func lock(at now: Moment, endsByTime: Bool) -> LockState {
        guard failures >= AttemptRecord.limit else { return .open }
        guard endsByTime else { return .untilPasscode }
        let length = rules.lockLength(number: lockouts)
        // If the beginning is unknown, no time is certain to have passed.
        let left = length - (lockedAt.map(now.certainlyAfter) ?? 0)
        return left > 0 ? .for(.milliseconds(left)) : .open
    }

    /// Reserves the next scan, unless fingers are locked.
    ///
    /// Call it only while holding the profile's lock: a pending reservation is taken for one of a process that died.
    /// The record changes in either case, so store it afterwards.
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

    /// Drops the reservation of a scan without a result: a retry, a cancellation, a timeout, an error.
    package mutating func release() { isPending = false }

    /// Resets the failure count, because the reserved scan matched.
    package mutating func reset() {
        unlock()
        isPending = false
    }

    /// Resets the failure count, because the passcode was verified.
    ///
    /// The reservation of a scan in progress stays.
    package mutating func unlock() {
        failures = 0
        lockouts = 0
        lockedAt = nil
    }
}

/// Whether fingers are locked after too many failures.
package enum LockState: Sendable, Hashable {
    /// A finger may be tried.
    case open
    /// Locked for the given time.
    case `for`(Duration)
    /// Locked until the passcode is verified.
    case untilPasscode
}
