// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import WhorlFingerprint

/// The tries of one profile on one class of readers, as they stand now.
public struct AttemptStatus: Sendable, Hashable, Codable {
    /// Whether fingers are locked, and how that ends.
    public enum Lock: Sendable, Hashable, Codable {
        /// A finger may be tried.
        case open
        /// Locked until the given time, by the wall clock as it is set now; setting the clock does not move the end.
        case until(Date)
        /// Locked until the passcode is verified.
        case untilPasscode

        private enum UntilCodingKeys: String, CodingKey { case _0 = "end" }
    }

    /// The class of readers that the tries are made on.
    public let readers: ReaderClass
    /// Failed tries since the last match or verified passcode.
    public let failures: Int
    /// Failed tries that remain before fingers are locked: 0 while they are locked, 1 after a lock that has ended by
    /// time.
    public let remaining: Int
    /// Failed tries ever.
    public let totalFailures: Int
    /// Locks since the last match or verified passcode; each is twice as long as the one before.
    public let lockouts: Int
    /// Whether a scan is going on, or its process ended during it; the next evaluation counts an ended one as a
    /// failure.
    public let isPending: Bool
    /// Whether fingers are locked.
    public let lock: Lock

    /// Describes the tries of a profile.
    public init(
        readers: ReaderClass,
        failures: Int,
        remaining: Int,
        totalFailures: Int,
        lockouts: Int,
        isPending: Bool,
        lock: Lock
    ) {
        self.readers = readers
        self.failures = failures
        self.remaining = remaining
        self.totalFailures = totalFailures
        self.lockouts = lockouts
        self.isPending = isPending
        self.lock = lock
    }
}

/// A class of readers whose tries are counted together.
///
/// The class follows from the code that made the reader (``ReaderInfo/Kind``), never from a text: a script, a variable
/// or a device can take any name, and none of them can make a mock real. Tries are not counted for each reader's
/// identity: then every further reader that is plugged in, or claims to be another one, would bring five tries of its
/// own.
///
/// So a match on a mock does not reset the tries on a real reader, and failures on a mock do not lock a real one.
public enum ReaderClass: String, Sendable, Hashable, CaseIterable, Codable {
    /// Hardware that a driver speaks to.
    case real
    /// A script, or one of libfprint's virtual readers.
    case pretended

    /// Makes the class of a kind of reader.
    public init(_ kind: ReaderInfo.Kind) {
        switch kind {
        case .hardware: self = .real
        case .virtual, .mock: self = .pretended
        }
    }
}

/// The rules of a machine for failed tries: the standard ones, or stricter ones.
package struct AttemptRules: Sendable, Hashable {
    /// Five failures in a row lock, for five minutes at first.
    package static let standard = AttemptRules()

    /// The number of failures in a row that locks fingers, 1 to 5.
    package let tries: Int
    /// The length of the first lock where time ends locks, in minutes, 5 to 1440.
    package let firstLockMinutes: Int

    /// The length of the longest lock where time ends locks, in minutes.
    private let longestLockMinutes: Int

    /// The rules for a place where anyone can name anyone: five failures in a row, for a minute at first, for an hour at most.
    package static let ofPlace = AttemptRules(tries: 5, lockMinutes: 1...60)

    /// Makes rules; a value outside its range counts as the nearest one in it.
    package init(tries: Int = 5, firstLockMinutes: Int = 5) {
        self.init(tries: min(max(1, tries), 5), lockMinutes: min(max(5, firstLockMinutes), 1440)...1440)
    }

    private init(tries: Int, lockMinutes: ClosedRange<Int>) {
        self.tries = tries
        firstLockMinutes = lockMinutes.lowerBound
        longestLockMinutes = lockMinutes.upperBound
    }

    /// Returns the length in milliseconds of the lock with this number (from 1), where time ends locks: each is twice
    /// as long as the one before, and none is longer than the longest: a day, or an hour for a place.
    package func lockLength(number: Int) -> Int64 {
        let doublings = min(max(1, number), 21) - 1
        return min(Int64(firstLockMinutes) * 60_000 << Int64(doublings), Int64(longestLockMinutes) * 60_000)
    }
}
