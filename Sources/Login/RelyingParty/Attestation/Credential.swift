// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import CryptoExtras
public import Foundation
internal import WhorlSupport

/// A secret that only one TPM can decrypt, and only while a certain object is loaded: TPM2_MakeCredential, computed
/// without a TPM.
///
/// Source: TPM 2.0 Library Part 1, 24 "Credential Protection", and 11.4.10 "Key Derivation Function".
public struct AttestationCredential: Sendable, Hashable {
    /// The nonce, 16 bytes, to be sent back by the device.
    public let nonce: Data
    /// The credential as TPMS_ID_OBJECT: the integrity HMAC and the encrypted secret.
    public let credential: Data
    /// The encrypted seed of the credential: an ephemeral point, TPMS_ECC_POINT, for a P-256 endorsement key, or 256
    /// bytes for an RSA key.
    public let secret: Data
    /// The time when the credential expires, in seconds since 1970.
    public let expiresAt: Int
}

/// The encryption of a secret with a seed that only one endorsement key can decrypt.
struct CredentialSeal {
    /// The integrity HMAC and the encrypted secret, TPMS_ID_OBJECT.
    let credential: Data

    /// Encrypts a secret; returns `nil` if it is longer than 32 bytes.
    ///
    /// - Parameters:
    ///   - secret: At most 32 bytes.
    ///   - name: The name of the object that must be loaded together with the endorsement key.
    ///   - seed: The seed, used only once.
    init?(_ secret: Data, for name: Data, under seed: SymmetricKey) {
        guard secret.count <= 32 else { return nil }
        var plain = ByteWriter()
        plain.append(sized: secret, by: UInt16.self)
        let storage = Self.derived(from: seed, "STORAGE", name, bits: 128)
        // The key and the initialization vector have the sizes that the cipher requires.
        guard let vector = try? AES._CFB.IV(ivBytes: Data(count: 16)),
            let sealed = try? AES._CFB.encrypt(plain.bytes, using: storage, iv: vector)
        else { return nil }
        let integrity = Self.derived(from: seed, "INTEGRITY", Data(), bits: 256)
        var object = ByteWriter()
        object.append(
            sized: Data(HMAC<SHA256>.authenticationCode(for: sealed + name, using: integrity)),
            by: UInt16.self
        )
        object.append(raw: sealed)
        credential = Data(object.bytes)
    }

    /// Returns a key of at most 256 bits, derived by KDFa with SHA-256.
    private static func derived(
        from seed: SymmetricKey,
        _ label: String,
        _ context: Data,
        bits: UInt32
    ) -> SymmetricKey {
        var input = ByteWriter()
        input.append(UInt32(1))
        input.append(raw: label.utf8)
        input.append(UInt8(0))
        input.append(raw: context)
        input.append(bits)
        let code = HMAC<SHA256>.authenticationCode(for: input.bytes, using: seed)
        return SymmetricKey(data: Data(code).prefix(Int(bits / 8)))
    }
}

/// The seed of a credential, 32 bytes, which only one endorsement key can decrypt.
///
/// Source: TPM 2.0 Library Part 1, B.10.4 "Secret Sharing" for RSA, and C.6.4 for ECC.
struct CredentialSeed {
    private static let label = Data("IDENTITY\0".utf8)

    /// The seed.
    let key: SymmetricKey
    /// The bytes from which the TPM computes the seed: the encrypted seed for RSA, or the ephemeral point,
    /// TPMS_ECC_POINT, for P-256.
    let encrypted: Data

    /// Creates a new seed; returns `nil` if the key is invalid.
    init?(for endorsement: EndorsementKey) {
        switch endorsement {
        case .p256(let point): self.init(forPoint: point)
        case .rsa2048(let modulus): self.init(forModulus: modulus)
        }
    }

    /// Creates a seed for a P-256 key.
    ///
    /// - Parameters:
    ///   - point: The endorsement key: 0x04 followed by x and y.
    ///   - own: The ephemeral key, used only once.
    init?(forPoint point: Data, with own: P256.KeyAgreement.PrivateKey = .init()) {
        // Any error means that the point is not a key.
        guard let key = try? P256.KeyAgreement.PublicKey(x963Representation: point),
            let shared = try? own.sharedSecretFromKeyAgreement(with: key)
        else { return nil }
        let ownPoint = own.publicKey.x963Representation.dropFirst()
        // KDFe with SHA-256 and 256 bits.
        var hash = SHA256()
        hash.update(data: Data([0, 0, 0, 1]))
        shared.withUnsafeBytes { hash.update(bufferPointer: $0) }
        hash.update(data: Self.label)
        hash.update(data: ownPoint.prefix(32))
        hash.update(data: point.dropFirst().prefix(32))
        self.key = SymmetricKey(data: hash.finalize())
        var bytes = ByteWriter()
        bytes.append(sized: ownPoint.prefix(32), by: UInt16.self)
        bytes.append(sized: ownPoint.suffix(32), by: UInt16.self)
        encrypted = Data(bytes.bytes)
    }

    /// Creates a seed for an RSA key.
    ///
    /// - Parameters:
    ///   - modulus: The endorsement key, 256 bytes.
    ///   - seed: 32 random bytes, used only once.
    ///   - padding: 32 other random bytes, used only once.
    init?(
        forModulus modulus: Data,
        seed: SymmetricKey = SymmetricKey(size: .bits256),
        padding: SymmetricKey = SymmetricKey(size: .bits256)
    ) {
        let encrypted = RSAEncryption(modulus: modulus)?.encrypt(
            seed.withUnsafeBytes { Data($0) },
            label: Self.label,
            seed: padding.withUnsafeBytes { Data($0) }
        )
        guard let encrypted else { return nil }
        key = seed
        self.encrypted = encrypted
    }
}
