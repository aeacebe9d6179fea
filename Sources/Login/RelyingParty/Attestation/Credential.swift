// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import CryptoExtras
public import Foundation
internal import WhorlSupport

/// A secret that only one chip can read, and only while it holds the object of one name: TPM2_MakeCredential, computed
/// without a TPM.
///
/// Source: TPM 2.0 Library Part 1, 24 "Credential Protection", 11.4.10 "Key Derivation Function", and C.6.
public struct AttestationCredential: Sendable, Hashable {
    /// The nonce, 16 bytes, which the device sends back.
    public let nonce: Data
    /// The credential as TPMS_ID_OBJECT: the integrity HMAC and the encrypted secret.
    public let credential: Data
    /// The ephemeral point that the secret is encrypted with, TPMS_ECC_POINT.
    public let secret: Data
    /// The time when it expires, in seconds since 1970.
    public let expiresAt: Int
}

/// The encryption of a secret to an endorsement key.
struct CredentialSeal {
    let credential: Data
    let ephemeral: Data

    /// Encrypts a secret; `nil` if the endorsement key is not a point of P-256.
    ///
    /// - Parameters:
    ///   - secret: At most 32 bytes.
    ///   - name: The name of the object that must be loaded beside the endorsement key.
    ///   - endorsementPoint: The endorsement key, 4, x, y.
    ///   - own: The ephemeral key, which is used once.
    init?(
        _ secret: Data,
        for name: Data,
        to endorsementPoint: Data,
        with own: P256.KeyAgreement.PrivateKey = .init()
    ) {
        // What is no point is no key: the reason does not matter.
        guard let key = try? P256.KeyAgreement.PublicKey(x963Representation: endorsementPoint),
            let shared = try? own.sharedSecretFromKeyAgreement(with: key), secret.count <= 32
        else { return nil }
        let ownPoint = own.publicKey.x963Representation.dropFirst()
        let seed = Self.seed(shared, own: ownPoint.prefix(32), other: endorsementPoint.dropFirst().prefix(32))
        var plain = ByteWriter()
        plain.append(sized: secret, by: UInt16.self)
        let storage = Self.derived(from: seed, "STORAGE", name, bits: 128)
        // The key and the vector have the sizes that the cipher takes.
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
        var point = ByteWriter()
        point.append(sized: ownPoint.prefix(32), by: UInt16.self)
        point.append(sized: ownPoint.suffix(32), by: UInt16.self)
        ephemeral = Data(point.bytes)
    }

    /// KDFe with SHA-256, the label IDENTITY and 256 bits.
    private static func seed(_ shared: SharedSecret, own: Data, other: Data) -> SymmetricKey {
        var hash = SHA256()
        hash.update(data: Data([0, 0, 0, 1]))
        shared.withUnsafeBytes { hash.update(bufferPointer: $0) }
        hash.update(data: Data("IDENTITY\0".utf8))
        hash.update(data: own)
        hash.update(data: other)
        return SymmetricKey(data: hash.finalize())
    }

    /// KDFa with SHA-256, for at most 256 bits.
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
