// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import FoundationEssentials

/// The public half of a signing key: a point on P-256.
public struct SigningKeyPublic: Sendable, Hashable {
    /// The uncompressed point, 65 bytes: 0x04 followed by x and y (SEC 1, 2.3.3).
    public let x963: Data
    /// The SubjectPublicKeyInfo in PEM, with a newline at the end (RFC 5480, RFC 7468).
    public let pem: String
    /// The SubjectPublicKeyInfo in DER.
    public let der: Data

    /// Creates a key from an uncompressed point; returns `nil` if the point is not on the curve.
    package init?(x963: Data) {
        // The reason why the point is invalid does not matter.
        guard let key = try? P256.Signing.PublicKey(x963Representation: x963) else { return nil }
        self.x963 = x963
        pem = key.pemRepresentation + "\n"
        der = key.derRepresentation
    }

    /// Returns whether a signature over a digest was made with this key.
    ///
    /// - Parameters:
    ///   - signature: The signature, r followed by s, 64 bytes.
    ///   - digest: The SHA-256 digest, 32 bytes.
    /// - Returns: `false` if the signature is wrong or malformed.
    package func isValid(_ signature: Signature, over digest: Data) -> Bool {
        guard let key = try? P256.Signing.PublicKey(x963Representation: x963),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature.raw),
            let hash = DigestBytes(digest)
        else { return false }
        return key.isValidSignature(signature, for: hash)
    }
}

/// An ECDSA signature over P-256 and SHA-256 ("ES256").
public struct Signature: Sendable, Hashable {
    /// The signature as r followed by s, 32 bytes each, as in JOSE (RFC 7518, 3.4).
    public let raw: Data

    /// The signature as `SEQUENCE { r, s }` in DER, as in X.509 and OpenSSL (RFC 3279, 2.2.3).
    public var der: Data {
        // 64 bytes are always two numbers.
        (try? P256.Signing.ECDSASignature(rawRepresentation: raw).derRepresentation) ?? Data()
    }

    /// Creates a signature from r followed by s, 64 bytes; returns `nil` for any other size.
    package init?(raw: Data) {
        guard (try? P256.Signing.ECDSASignature(rawRepresentation: raw)) != nil else { return nil }
        self.raw = raw
    }
}

/// An existing SHA-256 digest, 32 bytes, in the form that CryptoKit's keys accept.
package struct DigestBytes: Digest {
    package static let byteCount = 32
    private let bytes: [UInt8]

    /// Creates a digest; returns `nil` for any other size.
    package init?(_ bytes: Data) {
        guard bytes.count == DigestBytes.byteCount else { return nil }
        self.bytes = [UInt8](bytes)
    }

    package func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try bytes.withUnsafeBytes(body)
    }

    package func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }

    package var description: String { "SHA-256 digest" }
}
