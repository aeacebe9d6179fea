// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import WhorlSecretMemory

/// An item to create.
public enum NewItem: Sendable {
    /// A secret of 1 byte to 1 MiB.
    case secret(SecretBox)
    /// A P-256 key that never leaves the TPM, for signing and for deriving shared secrets with other parties' public
    /// keys.
    case key

    /// The kind of the item.
    package var kind: ItemKind {
        switch self {
        case .secret: .secret
        case .key: .key
        }
    }
}

/// An operation that uses an item.
public enum ItemUse: Sendable, Hashable, Codable {
    /// Reading the secret.
    case secret
    /// Signing a SHA-256 digest of 32 bytes.
    case signature(over: Data)
    /// Multiplying another party's public key by the item's key (TPM2_ECDH_ZGen).
    ///
    /// The public key is in ANSI X9.63 form (0x04, X, Y; 65 bytes). Keys that are stored under a name can only be used
    /// to sign.
    case sharedSecret(with: Data)

    private enum SignatureCodingKeys: String, CodingKey { case over = "digest" }
    private enum SharedSecretCodingKeys: String, CodingKey { case with = "publicKey" }
}

/// The result of using an item.
public enum ItemProduct: Sendable {
    /// The secret, or the X coordinate of the shared point (32 bytes).
    case secret(SecretBox)
    /// The signature.
    case signature(Signature)
}
