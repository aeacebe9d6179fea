// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import Foundation
internal import Keychain
internal import SecretMemory

extension SecureEnclave.P256.KeyAgreement {
    /// What a key agreement in the chip gave: the X coordinate of the product, 32 bytes.
    ///
    /// It is no key yet: one is derived from it. It has the members of CryptoKit's `SharedSecret`, and is not that type:
    /// a function of the program's own that takes a `SharedSecret` needs a second form, or takes the derived key.
    ///
    /// The bytes lie in memory that is not swapped out, and are wiped when the last copy ends.
    public struct SharedSecret: ContiguousBytes, Hashable, CustomStringConvertible, Sendable {
        private let secret: SecretBox

        init(_ secret: SecretBox) { self.secret = secret }

        /// Lends the bytes; the pointer ends with `body`.
        public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
            try secret.bytes.withUnsafeBytes { try body($0) }
        }

        /// Derives a key with HKDF (RFC 5869).
        ///
        /// - Parameters:
        ///   - hashFunction: The hash function.
        ///   - salt: May be empty.
        ///   - sharedInfo: What both sides know besides; may be empty.
        ///   - outputByteCount: The size of the key in bytes, at most 255 hashes.
        /// - Returns: The key.
        public func hkdfDerivedSymmetricKey<H: HashFunction, Salt: DataProtocol, SI: DataProtocol>(
            using hashFunction: H.Type,
            salt: Salt,
            sharedInfo: SI,
            outputByteCount: Int
        ) -> SymmetricKey {
            HKDF<H>.deriveKey(
                inputKeyMaterial: withUnsafeBytes { SymmetricKey(data: $0) },
                salt: salt,
                info: sharedInfo,
                outputByteCount: outputByteCount
            )
        }

        /// Derives a key with the derivation of ANSI X9.63.
        ///
        /// - Parameters:
        ///   - hashFunction: The hash function.
        ///   - sharedInfo: What both sides know besides; may be empty.
        ///   - outputByteCount: The size of the key in bytes.
        /// - Returns: The key.
        public func x963DerivedSymmetricKey<H: HashFunction, SI: DataProtocol>(
            using hashFunction: H.Type,
            sharedInfo: SI,
            outputByteCount: Int
        ) -> SymmetricKey {
            X963KDF<H>.derive(from: secret.bytes, sharedInfo: Data(sharedInfo), count: outputByteCount)
                .withUnsafeBytes { SymmetricKey(data: $0) }
        }

        /// Whether both are the same; the time does not depend on where they differ.
        public static func == (left: SharedSecret, right: SharedSecret) -> Bool {
            SecretBytes.areEqual(left.secret.bytes, right.secret.bytes)
        }

        /// Whether it is one that the library agreed on; the time does not depend on where they differ.
        public static func == (left: SharedSecret, right: Crypto.SharedSecret) -> Bool {
            left.withUnsafeBytes { left in
                right.withUnsafeBytes { right in constantTimeEqual(left.bytes, right.bytes) }
            }
        }

        /// Hashes the bytes.
        public func hash(into hasher: inout Hasher) { withUnsafeBytes { hasher.combine(bytes: $0) } }

        /// Its kind, and none of its bytes.
        public var description: String { "SharedSecret: ****" }
    }
}
