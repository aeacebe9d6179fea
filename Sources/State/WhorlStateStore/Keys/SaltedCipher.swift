// SPDX-License-Identifier: Apache-2.0

internal import Crypto
package import FoundationEssentials

/// A cipher for the database's contents.
///
/// It uses AES-256-GCM, with a separate key for each ciphertext that is derived from a random salt.
package struct SaltedCipher: Sendable {
    private let keys: StateKeys
    private let purpose: KeyPurpose

    /// The size of the salt in bytes.
    private static let saltSize = 16
    /// The size in bytes of the GCM tag at the end of a ciphertext.
    package static let tagSize = 16

    /// Creates a cipher that uses the key for a purpose.
    package init(_ keys: StateKeys, _ purpose: KeyPurpose) {
        self.keys = keys
        self.purpose = purpose
    }

    /// Encrypts bytes.
    ///
    /// - Parameters:
    ///   - plain: The bytes, which the caller must wipe if necessary.
    ///   - context: The bytes that must also be passed to ``open(_:authenticating:)``.
    /// - Returns: The salt, the nonce, the encrypted bytes and the tag.
    /// - Throws: The errors of swift-crypto.
    package func seal(_ plain: Data, authenticating context: Data) throws -> Data {
        let salt = SymmetricKey(size: SymmetricKeySize(bitCount: 8 * SaltedCipher.saltSize))
            .withUnsafeBytes { Data($0) }
        let key = keys.cipherKey(purpose, salt: salt)
        let box = try AES.GCM.seal(plain, using: key, authenticating: context)
        // With a nonce of 12 bytes, which GCM creates itself, the combined form always exists.
        guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
        return salt + combined
    }

    /// Returns the decrypted bytes, or `nil` if they were not sealed with this context.
    package func open(_ sealed: Data, authenticating context: Data) -> Data? {
        guard sealed.count > SaltedCipher.saltSize else { return nil }
        return SaltedCipher.open(
            sealed.dropFirst(SaltedCipher.saltSize),
            with: keys.cipherKey(purpose, salt: sealed.prefix(SaltedCipher.saltSize)),
            authenticating: context
        )
    }

    private static func open(
        _ combined: Data,
        with key: SymmetricKey,
        authenticating context: Data
    ) -> Data? {
        // Every failure means that the ciphertext cannot be decrypted.
        guard let box = try? AES.GCM.SealedBox(combined: combined) else { return nil }
        return try? AES.GCM.open(box, using: key, authenticating: context)
    }
}
