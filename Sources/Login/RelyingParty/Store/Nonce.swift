// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import Foundation

/// The unique part of a challenge: 4 bytes of its expiry time, most significant first, and 12 random bytes.
///
/// A store keeps the nonces of used challenges until long after the challenges have expired. Ended sessions have nonces
/// of the same form.
public struct Nonce: Sendable, Hashable {
    /// The size in bytes.
    public static let size = 16
    /// The time for which a nonce is kept after its challenge has expired, in seconds.
    ///
    /// Instances whose clocks differ by less, or are set back by less, never accept a challenge twice.
    static let keptAfterExpiry = 600

    /// The nonce, 16 bytes; nonces are sorted by expiry.
    public let bytes: Data

    /// The time when the challenge expires, in seconds since 1970.
    public var expiresAt: Int { bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) } }

    /// Creates a nonce from its bytes; returns `nil` if their number is wrong.
    public init?(bytes: Data) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Creates a nonce for something else that expires, such as a session.
    ///
    /// - Parameters:
    ///   - expiresAt: The time when it expires, in seconds since 1970, at most in 2106.
    ///   - unique: Unique random bytes, at least 12; the first 12 are used.
    public init?(expiresAt: Int, unique: Data) {
        guard unique.count >= 12 else { return nil }
        bytes = Self.prefix(expiresAt) + unique.prefix(12)
    }

    /// Creates a new nonce for a challenge that expires at a given time, at most in 2106.
    init(expiresAt: Int) {
        let random = SymmetricKey(size: SymmetricKeySize(bitCount: 96))
        bytes = Self.prefix(expiresAt) + random.withUnsafeBytes { Data($0) }
    }

    /// Returns the lower bound for nonces, byte by byte; a store may remove all nonces before it.
    public static func removable(at now: Int) -> Data { prefix(now - keptAfterExpiry) }

    private static func prefix(_ time: Int) -> Data {
        withUnsafeBytes(of: UInt32(clamping: time).bigEndian) { Data($0) }
    }
}

/// The key in a store for sealing challenges.
public enum ChallengeKey {
    /// The name of its document.
    public static let document = "challenge-key"
    /// The size in bytes.
    public static let size = 32

    /// Returns a new key.
    public static func make() -> Data { SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) } }
}
