// SPDX-License-Identifier: Apache-2.0

/// The reference to a key in the TPM that age's users store in a file (`AGE-PLUGIN-WHORL-1…`): the public key, and the
/// sealed key that only the TPM can use.
///
/// It is not secret: the TPM uses the key after its owner was authenticated.
package struct AgeIdentity: Sendable, Hashable {
    private static let prefix = "AGE-PLUGIN-WHORL-"
    private static let version: UInt8 = 1

    /// The recipient of the files that the key decrypts.
    package let recipient: AgeTagRecipient
    /// The sealed key.
    package let sealedKey: [UInt8]

    package init(_ recipient: AgeTagRecipient, sealedKey: [UInt8]) {
        self.recipient = recipient
        self.sealedKey = sealedKey
    }

    /// Parses an identity; returns `nil` for anything else.
    package init?(_ text: String) {
        guard let bytes = Bech32.decode(text, prefix: Self.prefix), bytes.first == Self.version,
            bytes.count > 34,
            let recipient = AgeTagRecipient(compressed: bytes[1..<34])
        else { return nil }
        self.init(recipient, sealedKey: Array(bytes[34...]))
    }

    /// The text, `AGE-PLUGIN-WHORL-1…`.
    package var text: String {
        Bech32.encode([Self.version] + recipient.compressed + sealedKey, prefix: Self.prefix)
    }
}
