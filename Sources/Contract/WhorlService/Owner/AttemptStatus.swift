// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import WhorlFingerprint

/// The status of one profile's attempts on one class of readers.
public struct AttemptStatus: Sendable, Hashable, Codable {
    /// Whether the profile is locked out of fingers, and how the lockout ends.
    public enum Lock: Sendable, Hashable, Codable {
        /// The profile is not locked out.
        case open
        /// The profile is locked out until the given wall-clock time; setting the clock does not change how long the
        /// lockout lasts.
        case until(Date)
        /// The profile is locked out until the passcode is verified.
        case untilPasscode

        private enum UntilCodingKeys: String, CodingKey { case _0 = "end" }
    }

    /// The class of readers on which the attempts were made.
    public let readers: ReaderClass
    /// The number of failed attempts since the last match or verified passcode.
    public let failures: Int
    /// The number of failed attempts that remain before a lockout: 0 during a lockout, 1 after a timed lockout has
    /// ended.
    public let remaining: Int
    /// The total number of failed attempts.
    public let totalFailures: Int
    /// The number of lockouts since the last match or verified passcode; each lasts twice as long as the one before.
    public let lockouts: Int
    /// Whether a scan is running, or was abandoned because its process exited.
    ///
    /// The next evaluation counts an abandoned scan as a failure.
    public let isPending: Bool
    /// Whether the profile is locked out of fingers.
    public let lock: Lock

    /// Creates the status of a profile's attempts.
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

/// A class of readers whose attempts are counted together.
///
/// The class depends on the code that created the reader (``ReaderInfo/Kind``), never on a name or other text. A
/// script, a variable or a device can use any name, but it cannot make a mock count as a real reader. Attempts are not
/// counted per reader identity: otherwise each additional reader, or one that claims another identity, would allow five
/// more attempts.
///
/// A match on a mock therefore does not reset the attempts on a real reader, and failures on a mock do not lock out a
/// real one.
public enum ReaderClass: String, Sendable, Hashable, CaseIterable, Codable {
    /// Hardware that is accessed through a driver.
    case real
    /// A script, or one of libfprint's virtual readers.
    case pretended

    /// Creates the class for a kind of reader.
    public init(_ kind: ReaderInfo.Kind) {
        switch kind {
        case .hardware: self = .real
        case .virtual, .mock: self = .pretended
        }
    }
}

/// A machine's rules for failed attempts: the standard rules, or stricter ones.
package struct AttemptRules: Sendable, Hashable {
    /// The standard rules: five failures in a row cause a lockout, initially for five minutes.
    package static let standard = AttemptRules()

    /// The number of failures in a row that cause a lockout, 1 to 5.
    package let tries: Int
    /// The duration of the first timed lockout in minutes, 5 to 1440.
    package let firstLockMinutes: Int

    /// The duration of the longest timed lockout in minutes.
    private let longestLockMinutes: Int

    /// The rules for a place where any user can be named, such as a login screen.
    ///
    /// Five failures in a row cause a lockout, which initially lasts one minute and never longer than an hour.
    package static let ofPlace = AttemptRules(tries: 5, lockMinutes: 1...60)

    /// Creates rules; a value outside its range is replaced by the nearest valid one.
    package init(tries: Int = 5, firstLockMinutes: Int = 5) {
        self.init(tries: min(max(1, tries), 5), lockMinutes: min(max(5, firstLockMinutes), 1440)...1440)
    }

    private init(tries: Int, lockMinutes: ClosedRange<Int>) {
        self.tries = tries
        firstLockMinutes = lockMinutes.lowerBound
        longestLockMinutes = lockMinutes.upperBound
    }

    /// Returns the duration of the timed lockout with the given number, in milliseconds; the first one has number 1.
    ///
    /// Each lockout lasts twice as long as the one before, up to a day, or up to an hour for a place.
    package func lockLength(number: Int) -> Int64 {
        let doublings = min(max(1, number), 21) - 1
        return min(Int64(firstLockMinutes) * 60_000 << Int64(doublings), Int64(longestLockMinutes) * 60_000)
    }
}
