// SPDX-License-Identifier: Apache-2.0

package import StateStore

/// What is known about the tries of one profile, and the rules by which it changes.
///
/// It is a plain value: ``AttemptLedger`` keeps it on disk.
///
/// - A try is *reserved* before its scan and *settled* after it. A reservation that a dead run left behind
///   counts as a failure, so that killing a run between scan and bookkeeping gains nothing.
/// - Five failures in a row lock. Only a verified passcode unlocks; where none is set, time does: 5 minutes,
///   twice as long each time it locks again without a success in between, at most 24 hours.
/// - After a timed lock there is *one* try: a failure locks again, a match sets everything to zero. Whoever
///   has only time, and not the finger, gets one try for each ever longer wait.
package struct AttemptRecord: Sendable, Hashable {
    /// Failures in a row that lock.
    package static let limit = 5

    /// Failures since the last match or verified passcode; ``limit`` and more means locked.
    package private(set) var failures: Int
    /// Failures ever.
    ///
    /// It never goes down.
    package private(set) var totalFailures: Int
    /// How often it locked since the last match or verified passcode; the length of the next lock follows
    /// from it.
    package private(set) var lockouts: Int
    /// Whether a scan was reserved and not settled.
    package private(set) var isPending: Bool
    /// When the present lock began; `nil` when it is open.
    package private(set) var lockedAt: Moment?

    /// A record as it was stored; nonsense in it means locked.
    package init(failures: Int, totalFailures: Int, lockouts: Int, isPending: Bool, lockedAt: Moment?) {
        self.failures = failures < 0 ? AttemptRecord.limit : failures
        self.totalFailures = min(max(0, totalFailures), 1 << 40)
        self.lockouts = min(max(0, lockouts), 1 << 40)
        self.isPending = isPending
        self.lockedAt = lockedAt
    }

    /// The record of a profile that nobody has tried yet.
    package static let fresh = AttemptRecord(
        failures: 0,
        totalFailures: 0,
        lockouts: 0,
        isPending: false,
        lockedAt: nil
    )

    /// Failures that remain before it locks.
    package var remaining: Int { max(0, AttemptRecord.limit - failures) }

    /// Whether it is locked, and for how long.
    ///
    /// - Parameters:
    ///   - now: The time that it is.
    ///   - endsByTime: Whether no passcode is set, so that a lock ends by itself.
    /// - Returns: The state of the lock at that time.
    package func lock(at now: Moment, endsByTime: Bool) -> LockState {
        guard failures >= AttemptRecord.limit else { return .open }
        guard endsByTime else { return .untilPasscode }
        let length = AttemptRecord.lockLength(number: lockouts)
        // Without a beginning nothing has certainly passed yet.
        let left = length - (lockedAt.map(now.certainlyAfter) ?? 0)
        return left > 0 ? .for(.milliseconds(left)) : .open
    }

    /// Reserves the next scan, or says why there is none.
    ///
    /// It is to be called only where no other run can be alive: a pending reservation is taken as a dead
    /// run's. The record changes in either case and is to be stored in either case.
    package mutating func reserve(at now: Moment, endsByTime: Bool) -> LockState {
        if isPending { charge(at: now) }
        let lock = lock(at: now, endsByTime: endsByTime)
        switch lock {
        case .open:
            // A timed lock has ended: one try.
            failures = min(failures, AttemptRecord.limit - 1)
            lockedAt = nil
            isPending = true
        case .for, .untilPasscode: break
        }
        return lock
    }

    /// The reserved scan did not match.
    package mutating func charge(at now: Moment) {
        isPending = false
        failures = min(failures, AttemptRecord.limit - 1) + 1
        totalFailures += 1
        guard failures >= AttemptRecord.limit else { return }
        lockouts += 1
        lockedAt = now
    }

    /// The reserved scan came to no answer: a retry, a cancellation, a time-out, an error.
    package mutating func release() { isPending = false }

    /// The reserved scan matched.
    package mutating func reset() {
        unlock()
        isPending = false
    }

    /// The passcode was verified.
    ///
    /// A scan that goes on meanwhile stays reserved.
    package mutating func unlock() {
        failures = 0
        lockouts = 0
        lockedAt = nil
    }

    /// Milliseconds that the lock of this number (from 1) lasts where time ends it.
    package static func lockLength(number: Int) -> Int64 {
        let doublings = min(max(1, number), 21) - 1
        return min(300_000 << Int64(doublings), 86_400_000)
    }
}

/// Whether fingers are locked after too many failures.
package enum LockState: Sendable, Hashable {
    /// A finger may be tried.
    case open
    /// Locked for so long.
    case `for`(Duration)
    /// Locked until the passcode is verified.
    case untilPasscode
}
