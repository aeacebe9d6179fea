// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import SecretMemory

/// The elliptic curves of this module's keys; each has cofactor 1.
enum KeyCurve: Int, Sendable, CaseIterable {
    case p256 = 256
    case p384 = 384
    case p521 = 521

    /// The size of a coordinate in bytes.
    var byteCount: Int { (rawValue + 7) / 8 }
    /// The size of a public key in ANSI X9.63 in bytes: 0x04, X, Y.
    var publicByteCount: Int { 1 + 2 * byteCount }
    /// The size of a private key in bytes: the public key, followed by the private number.
    var privateByteCount: Int { 1 + 3 * byteCount }
}

/// The public half of an elliptic curve key.
struct ECPublicKey: Sendable, Hashable {
    let curve: KeyCurve
    /// The key in ANSI X9.63, uncompressed: 0x04, X, Y.
    let x963: Data

    /// Parses a public key; `nil` for bytes that are not a point of one of the curves.
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

    /// Whether a signature over a hash was made with this key; `false` also for bytes that are not a signature.
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
