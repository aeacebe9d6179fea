// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import SecretMemory

/// The curves that keys of this module lie on; each has cofactor 1.
enum KeyCurve: Int, Sendable, CaseIterable {
    case p256 = 256
    case p384 = 384
    case p521 = 521

    /// The size of a coordinate in bytes.
    var byteCount: Int { (rawValue + 7) / 8 }
    /// The size of a public key as ANSI X9.63: 0x04, X, Y.
    var publicByteCount: Int { 1 + 2 * byteCount }
    /// The size of a private key: the public key, and the number behind it.
    var privateByteCount: Int { 1 + 3 * byteCount }
}

/// The public half of an elliptic curve key.
struct ECPublicKey: Sendable, Hashable {
    let curve: KeyCurve
    /// ANSI X9.63 uncompressed: 0x04, X, Y.
    let x963: Data

    /// `nil` for anything that is no point of one of the curves.
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

    /// Whether a signature is one of this key over a hash; `false` also for what is no signature.
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
