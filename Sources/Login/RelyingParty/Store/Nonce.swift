// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import Foundation

/// The unique part of a challenge: its expiry time in 4 bytes, most significant byte first, and 12 random bytes.
///
/// A store keeps the nonces of used challenges until long after the challenges have expired. Sessions have nonces of
/// the same form.
public struct Nonce: Sendable, Hashable {
    /// The size in bytes.
    public static let size = 16
    /// The number of seconds for which a nonce is stored after its challenge has expired.
    ///
    /// Instances never accept a challenge twice if their clocks differ by less than this, or are set back by less.
    static let keptAfterExpiry = 600

    /// The 16 bytes of the nonce, which sort by expiry time.
    public let bytes: Data

    /// The time when the challenge expires, in seconds since 1970.
    public var expiresAt: Int { bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) } }

    /// Creates a nonce from its bytes; returns `nil` unless there are 16 bytes.
    public init?(bytes: Data) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Creates a nonce for something else that expires, such as a session.
    ///
    /// - Parameters:
    ///   - expiresAt: The expiry time, in seconds since 1970, no later than the year 2106.
    ///   - unique: At least 12 unique random bytes, of which the first 12 are used.
    public init?(expiresAt: Int, unique: Data) {
        guard unique.count >= 12 else { return nil }
        bytes = Self.prefix(expiresAt) + unique.prefix(12)
    }

    /// Creates a new nonce for a challenge that expires at the given time, no later than the year 2106.
    init(expiresAt: Int) {
        let random = SymmetricKey(size: SymmetricKeySize(bitCount: 96))
        bytes = Self.prefix(expiresAt) + random.withUnsafeBytes { Data($0) }
    }

    /// Returns the lower bound for nonces that must be kept; a store may remove all nonces that sort before it byte by
    /// byte.
    public static func removable(at now: Int) -> Data { prefix(now - keptAfterExpiry) }

    private static func prefix(_ time: Int) -> Data {
        withUnsafeBytes(of: UInt32(clamping: time).bigEndian) { Data($0) }
    }
}

/// The key for sealing challenges, which is in the store.
public enum ChallengeKey {
    /// The name of the document that contains the key.
    public static let document = "challenge-key"
    /// The size in bytes.
    public static let size = 32

    /// Returns a new key.
    public static func make() -> Data { SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) } }
}
