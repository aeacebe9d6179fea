// SPDX-License-Identifier: Apache-2.0

package import WhorlStateStore
package import WhorlService

/// The counted tries of one profile, and the rules by which they change.
///
/// It is a plain value: ``AttemptLedger`` keeps it on disk.
///
/// - A try is *reserved* before its scan and *settled* after it. A reservation that a dead run left behind
///   counts as a failure, so that killing a run between scan and bookkeeping gains nothing.
/// - Five failures in a row lock, or fewer by the machine's ``AttemptRules``, and then count as five. Only a verified
///   passcode unlocks; where none is set, time does: 5 minutes, twice as long each time it locks again without a success
///   in between, at most 24 hours.
/// - After a timed lock there is *one* try: a failure locks again, a match sets everything to zero. A person without
///   the finger gets one try after each wait, and the waits get longer.
package struct AttemptRecord: Sendable, Hashable {
    /// The number of failures with which fingers are locked.
    package static let limit = 5

    /// Failures since the last match or verified passcode; ``limit`` and more means locked.
    package private(set) var failures: Int
    /// Failures ever.
    ///
    /// It never goes down.
    package private(set) var totalFailures: Int
    /// The number of locks since the last match or verified passcode, which determines the length of the next lock.
    package private(set) var lockouts: Int
    /// Whether a scan is reserved and not settled.
    package private(set) var isPending: Bool
    /// The time when the present lock began; `nil` when fingers are not locked.
    package private(set) var lockedAt: Moment?
    /// The machine's rules, which are not stored with the record.
    package let rules: AttemptRules

    /// Makes a record from stored values; a negative number of failures means locked.
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

    /// Returns the record of a profile without any try, under a machine's rules.
    package static func fresh(under rules: AttemptRules = .standard) -> AttemptRecord {
        AttemptRecord(rules: rules)
    }

    /// The number of failures that remain before fingers are locked.
    package var remaining: Int {
        // After stricter rules came, or a timed lock has ended, one is left.
        failures >= AttemptRecord.limit ? 0 : max(1, rules.tries - failures)
    }

    /// Returns whether fingers are locked, and for how long.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - endsByTime: Whether no passcode is set, so that a lock ends by itself.
    /// - Returns: The state of the lock at that time.
    package func lock(at now: Moment, endsByTime: Bool) -> LockState {
        guard failures >= AttemptRecord.limit else { return .open }
        guard endsByTime else { return .untilPasscode }
        let length = rules.lockLength(number: lockouts)
        // Without a known beginning, no time has certainly passed.
        let left = length - (lockedAt.map(now.certainlyAfter) ?? 0)
        return left > 0 ? .for(.milliseconds(left)) : .open
    }

    /// Reserves the next scan, unless fingers are locked.
    ///
    /// Call it only where no other run can be alive: a pending reservation is taken as a dead run's. Store the record
    /// afterwards in either case, since it changes in either case.
    package mutating func reserve(at now: Moment, endsByTime: Bool) -> LockState {
        if isPending { charge(at: now) }
        let lock = lock(at: now, endsByTime: endsByTime)
        switch lock {
        case .open:
            // After a timed lock that has ended, one try is left.
            failures = min(failures, AttemptRecord.limit - 1)
            lockedAt = nil
            isPending = true
        case .for, .untilPasscode: break
        }
        return lock
    }

    /// Counts the reserved scan as a failure, since it did not match.
    package mutating func charge(at now: Moment) {
        isPending = false
        failures = min(failures, AttemptRecord.limit - 1) + 1
        totalFailures += 1
        guard failures >= rules.tries else { return }
        failures = AttemptRecord.limit
        lockouts += 1
        lockedAt = now
    }

    /// Drops the reservation of a scan without an answer: a retry, a cancellation, a time-out, an error.
    package mutating func release() { isPending = false }

    /// Sets the failures to zero, since the reserved scan matched.
    package mutating func reset() {
        unlock()
        isPending = false
    }

    /// Sets the failures to zero, since the passcode was verified.
    ///
    /// A scan that is going on stays reserved.
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
