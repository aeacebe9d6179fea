// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import WhorlSupport

/// The seed of a credential, 32 bytes, which one endorsement key alone can read.
///
/// Source: TPM 2.0 Library Part 1, B.10.4 "Secret Sharing" for RSA, and C.6.4 for ECC.
struct CredentialSeed {
    private static let label = Data("IDENTITY\0".utf8)

    /// The seed.
    let key: SymmetricKey
    /// The bytes from which the TPM computes it: for RSA the seed, encrypted; for P-256 the ephemeral point, TPMS_ECC_POINT.
    let encrypted: Data

    /// Makes a new seed; `nil` if the key is none of its kind.
    init?(for endorsement: EndorsementKey) {
        switch endorsement {
        case .p256(let point): self.init(forPoint: point)
        case .rsa2048(let modulus): self.init(forModulus: modulus)
        }
    }

    /// Makes a seed for a key of P-256.
    ///
    /// - Parameters:
    ///   - point: The endorsement key, 4, x, y.
    ///   - own: The ephemeral key, which is used once.
    init?(forPoint point: Data, with own: P256.KeyAgreement.PrivateKey = .init()) {
        // What is no point is no key: the reason does not matter.
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

    /// Makes a seed for a key of RSA.
    ///
    /// - Parameters:
    ///   - modulus: The endorsement key, 256 bytes.
    ///   - seed: 32 random bytes, used once.
    ///   - padding: 32 other random bytes, used once.
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
