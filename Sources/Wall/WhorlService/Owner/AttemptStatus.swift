// SPDX-License-Identifier: Apache-2.0

public import Foundation

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

        private enum CodingKeys: String, CodingKey {
            case open = "open"
            case until = "until"
            case untilPasscode = "untilPasscode"
        }

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
