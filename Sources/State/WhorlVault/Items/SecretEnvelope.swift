// SPDX-License-Identifier: Apache-2.0

import Crypto
import FoundationEssentials
import Glibc
import WhorlSecretMemory
import WhorlService

/// The envelope of a secret that is too large for the TPM.
///
/// The TPM seals a key, and the database stores the ciphertext.
///
/// The secret is encrypted with AES-256-GCM and bound to its item. Each secret has a separate key, which is used once.
enum SecretEnvelope {
    /// The size of the largest secret that a TPM can seal, in bytes (`MAX_SYM_DATA`).
    static let largestInChip = 128
    /// The size of the largest secret, in bytes (1 MiB).
    static let largestSecret = SecretSize.allowed.upperBound
    /// The size of the key that is sealed for a larger secret, in bytes.
    static let keySize = 32
    /// The number of bytes that the encryption adds for the nonce and the tag.
    static let overhead = 12 + 16

    /// The two parts of a secret.
    ///
    /// The TPM seals `sealed`, and the database stores `body`.
    struct Parts: Sendable {
        let sealed: SecretBox
        /// The encrypted secret, or `nil` if the TPM seals the secret itself.
        let body: Data?
    }

    /// Splits a secret into its parts.
    ///
    /// - Parameters:
    ///   - secret: The secret, 1 byte to 1 MiB in size.
    ///   - item: Bytes that uniquely identify the item.
    /// - Returns: The part for the TPM to seal, and the part for the database.
    /// - Throws: `secretEmpty`, `secretTooLarge`.
    static func close(_ secret: SecretBox, for item: Data) throws(ServiceError) -> Parts {
        switch secret.bytes.count {
        case 0: throw ServiceError(.secretEmpty)
        case ...largestInChip: return Parts(sealed: secret, body: nil)
        case ...largestSecret: break
        default: throw ServiceError(.secretTooLarge, details: [.bytes: "\(secret.bytes.count)"])
        }
        let key = SecretBox(SecretBytes(randomCount: keySize))
        let body = secret.bytes.withUnsafeBytes { plain in
            try? AES.GCM.seal(plain, using: symmetric(key.bytes), authenticating: item).combined
        }
        // With a key of 32 bytes and GCM's own nonce, the encryption cannot fail.
        guard let body = body ?? nil else {
            throw ServiceError(.chipFailed, cause: "AES-GCM encryption failed")
        }
        return Parts(sealed: key, body: body)
    }

    /// Restores a secret from its parts.
    ///
    /// - Returns: The secret, or `nil` if the body does not belong to the key and the item.
    static func open(_ unsealed: SecretBox, body: Data?, for item: Data) -> SecretBox? {
        guard let body else { return unsealed }
        guard unsealed.bytes.count == keySize, body.count <= largestSecret + overhead,
            let box = try? AES.GCM.SealedBox(combined: body),
            // CryptoKit's API returns `Data`, which is wiped below.
            var plain = try? AES.GCM.open(box, using: symmetric(unsealed.bytes), authenticating: item)
        else { return nil }
        defer {
            plain.withUnsafeMutableBytes { bytes in
                if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
            }
        }
        return SecretBox(SecretBytes(count: plain.count) { room in plain.copyBytes(to: room) })
    }

    private static func symmetric(_ key: borrowing SecretBytes) -> SymmetricKey {
        // SymmetricKey copies into memory that it wipes itself.
        key.withUnsafeBytes { SymmetricKey(data: $0) }
    }
}
