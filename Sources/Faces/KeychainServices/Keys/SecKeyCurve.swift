// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import WhorlSecretMemory

/// The elliptic curves that this module's keys can use, all of which have cofactor 1.
enum KeyCurve: Int, Sendable, CaseIterable {
    case p256 = 256
    case p384 = 384
    case p521 = 521

    /// The size of a coordinate in bytes.
    var byteCount: Int { (rawValue + 7) / 8 }
    /// The size in bytes of a public key in ANSI X9.63: 0x04, X, Y.
    var publicByteCount: Int { 1 + 2 * byteCount }
    /// The size of a private key in bytes: the public key, followed by the private number.
    var privateByteCount: Int { 1 + 3 * byteCount }
}

/// The public half of an elliptic curve key.
struct ECPublicKey: Sendable, Hashable {
    let curve: KeyCurve
    /// The key in ANSI X9.63, uncompressed: 0x04, X, Y.
    let x963: Data

    /// Parses a public key, or returns `nil` for bytes that are not a point on one of the curves.
    init?(x963: Data) {
        let curve = KeyCurve.allCases.first { $0.publicByteCount == x963.count }
        guard let curve, x963.first == 4 else { return nil }
        do {
            switch curve {
            case .p256: _ = try P256.Signing.PublicKey(x963Representation: x963)
            case .p384: _ = try P384.Signing.PublicKey(x963Representation: x963)
            case .p521: _ = try P521.Signing.PublicKey(x963Representation: x963)
            }
        } catch {
            return nil
        }
        self.curve = curve
        self.x963 = Data(x963)
    }

    /// Returns whether a signature over a hash was created with this key.
    ///
    /// The result is `false` for bytes that are not a signature.
    func isValid(_ signature: Data, _ form: KeyAlgorithm.SignatureForm, over hash: Data) -> Bool {
        guard !signature.isEmpty, !hash.isEmpty else { return false }
        let digest = GivenDigest(hash)
        do {
            switch curve {
            case .p256:
                let key = try P256.Signing.PublicKey(x963Representation: x963)
                switch form {
                case .der: return key.isValidSignature(try .init(derRepresentation: signature), for: digest)
                case .raw: return key.isValidSignature(try .init(rawRepresentation: signature), for: digest)
                }
            case .p384:
                let key = try P384.Signing.PublicKey(x963Representation: x963)
                switch form {
                case .der: return key.isValidSignature(try .init(derRepresentation: signature), for: digest)
                case .raw: return key.isValidSignature(try .init(rawRepresentation: signature), for: digest)
                }
            case .p521:
                let key = try P521.Signing.PublicKey(x963Representation: x963)
                switch form {
                case .der: return key.isValidSignature(try .init(derRepresentation: signature), for: digest)
                case .raw: return key.isValidSignature(try .init(rawRepresentation: signature), for: digest)
                }
            }
        } catch {
            return false
        }
    }
}

/// The private half of an elliptic curve key in this process.
///
/// Between uses, the key is stored only in this project's protected memory for secrets. The library's copy exists only
/// during an operation, after which the library wipes it.
struct ECPrivateKey: Sendable {
    let publicKey: ECPublicKey
    /// The key in ANSI X9.63: 0x04, X, Y, and the private number.
    let x963: SecretBox

    var curve: KeyCurve { publicKey.curve }

    /// Creates a new key.
    init(_ curve: KeyCurve) throws(NSError) {
        // The library returns the key as ordinary bytes, which are wiped immediately after copying.
        var bytes =
            switch curve {
            case .p256: P256.Signing.PrivateKey(compactRepresentable: false).x963Representation
            case .p384: P384.Signing.PrivateKey(compactRepresentable: false).x963Representation
            case .p521: P521.Signing.PrivateKey(compactRepresentable: false).x963Representation
            }
        defer { bytes.wipe() }
        guard let key = ECPrivateKey(x963: SecretBox(copying: bytes)) else {
            throw .status(errSecIO, "the key that the library created cannot be read")
        }
        self = key
    }

    /// Parses a private key, or returns `nil` for bytes that are not a key on one of the curves, or whose halves do not
    /// match.
    init?(x963 secret: SecretBox) {
        let curve = KeyCurve.allCases.first { $0.privateByteCount == secret.bytes.count }
        guard let curve else { return nil }
        let (stated, derived) = secret.bytes.withUnsafeBytes { bytes -> (Data, Data?) in
            let derived: Data? =
                switch curve {
                case .p256:
                    try? P256.Signing.PrivateKey(x963Representation: bytes).publicKey.x963Representation
                case .p384:
                    try? P384.Signing.PrivateKey(x963Representation: bytes).publicKey.x963Representation
                case .p521:
                    try? P521.Signing.PrivateKey(x963Representation: bytes).publicKey.x963Representation
                }
            return (Data(bytes.prefix(curve.publicByteCount)), derived)
        }
        guard stated == derived, let publicKey = ECPublicKey(x963: stated) else { return nil }
        self.publicKey = publicKey
        x963 = secret
    }

    /// Signs a hash.
    func signature(over hash: Data, _ form: KeyAlgorithm.SignatureForm) throws(NSError) -> Data {
        let digest = GivenDigest(hash)
        let signature = try? x963.bytes.withUnsafeBytes { bytes in
            switch curve {
            case .p256:
                let made = try P256.Signing.PrivateKey(x963Representation: bytes).signature(for: digest)
                return form == .der ? made.derRepresentation : made.rawRepresentation
            case .p384:
                let made = try P384.Signing.PrivateKey(x963Representation: bytes).signature(for: digest)
                return form == .der ? made.derRepresentation : made.rawRepresentation
            case .p521:
                let made = try P521.Signing.PrivateKey(x963Representation: bytes).signature(for: digest)
                return form == .der ? made.derRepresentation : made.rawRepresentation
            }
        }
        guard let signature else { throw .status(errSecIO, "the library could not create a signature") }
        return signature
    }

    /// Returns the X coordinate of the product of this key and another party's public key.
    func sharedSecret(with other: ECPublicKey) throws(NSError) -> SecretBox {
        guard other.curve == curve else {
            throw .status(errSecParam, "the keys are on different curves")
        }
        let shared = try? x963.bytes.withUnsafeBytes { bytes in
            switch curve {
            case .p256:
                try P256.KeyAgreement.PrivateKey(x963Representation: bytes)
                    .sharedSecretFromKeyAgreement(with: .init(x963Representation: other.x963))
            case .p384:
                try P384.KeyAgreement.PrivateKey(x963Representation: bytes)
                    .sharedSecretFromKeyAgreement(with: .init(x963Representation: other.x963))
            case .p521:
                try P521.KeyAgreement.PrivateKey(x963Representation: bytes)
                    .sharedSecretFromKeyAgreement(with: .init(x963Representation: other.x963))
            }
        }
        guard let shared else { throw .status(errSecParam, "no shared secret could be derived") }
        return SecretBox(copying: shared)
    }
}

extension SecretBox {
    /// Copies bytes from memory that the caller wipes.
    convenience init(copying bytes: some ContiguousBytes) {
        let count = bytes.withUnsafeBytes(\.count)
        self.init(
            SecretBytes(count: count) { room in bytes.withUnsafeBytes { room.copyMemory(from: $0) } }
        )
    }
}

extension Data {
    /// Overwrites the bytes with zeros.
    ///
    /// Earlier copies are not affected.
    mutating func wipe() { withUnsafeMutableBytes { $0.wipe() } }
}
