// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import Foundation

/// The part of a challenge that makes it unique: 4 bytes of the time when it expires, the most significant first, and
/// 12 random bytes.
///
/// A store keeps the nonces of challenges that were answered, until the challenges have long expired. Sessions that were
/// ended have nonces of the same form.
public struct Nonce: Sendable, Hashable {
    /// The size in bytes.
    public static let size = 16
    /// The time that a nonce is kept after its challenge has expired, in seconds: instances whose clocks differ by less,
    /// or are set back by less, take no challenge twice.
    static let keptAfterExpiry = 600

    /// The nonce, 16 bytes; nonces are in the order of their expiry.
    public let bytes: Data

    /// The time when the challenge expires, in seconds since 1970.
    public var expiresAt: Int { bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) } }

    /// Makes a nonce of its bytes; `nil` for another number of bytes.
    public init?(bytes: Data) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Makes the nonce of something else that ends at a time, at most in 2106, such as a session.
    ///
    /// - Parameters:
    ///   - expiresAt: The time when it expires, in seconds since 1970.
    ///   - unique: Random bytes that nothing else has, at least 12; the first 12 are taken.
    public init?(expiresAt: Int, unique: Data) {
        guard unique.count >= 12 else { return nil }
        bytes = Self.prefix(expiresAt) + unique.prefix(12)
    }

    /// Makes a new nonce of a challenge that expires at a time, at most in 2106.
    init(expiresAt: Int) {
        let random = SymmetricKey(size: SymmetricKeySize(bitCount: 96))
        bytes = Self.prefix(expiresAt) + random.withUnsafeBytes { Data($0) }
    }

    /// Returns the bytes that all nonces come before, byte by byte, which a store may remove.
    public static func removable(at now: Int) -> Data { prefix(now - keptAfterExpiry) }

    private static func prefix(_ time: Int) -> Data {
        withUnsafeBytes(of: UInt32(clamping: time).bigEndian) { Data($0) }
    }
}

/// The key that a store keeps for sealing challenges.
public enum ChallengeKey {
    /// The name of its document.
    public static let document = "challenge-key"
    /// The size in bytes.
    public static let size = 32

    /// Returns a new key.
    public static func make() -> Data { SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) } }
}
