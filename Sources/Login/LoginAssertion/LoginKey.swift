// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import FoundationEssentials

/// The public half of a device's key: a point on P-256.
public struct LoginKey: Sendable, Hashable {
    /// The SubjectPublicKeyInfo in DER, 91 bytes (RFC 5480).
    public let der: Data
    /// The key's ID: its SHA-256 thumbprint in Base64url, 43 characters (RFC 7638).
    public let id: String
    private let key: P256.Signing.PublicKey

    /// Parses a SubjectPublicKeyInfo; returns `nil` unless it is the only encoding of an uncompressed P-256 point.
    public init?(der: Data) {
        guard der.count == 91, let key = try? P256.Signing.PublicKey(derRepresentation: der),
            key.derRepresentation == der
        else { return nil }
        self.init(key)
    }

    /// Parses a point; returns `nil` unless the 65 bytes are 0x04 followed by x and y of a P-256 point (SEC 1, 2.3.3).
    public init?(x963: Data) {
        guard x963.count == 65, let key = try? P256.Signing.PublicKey(x963Representation: x963) else {
            return nil
        }
        self.init(key)
    }

    private init(_ key: P256.Signing.PublicKey) {
        self.key = key
        der = key.derRepresentation
        let point = key.x963Representation
        let x = Base64URL.encode(point.dropFirst().prefix(32))
        let y = Base64URL.encode(point.suffix(32))
        // The members are sorted by name, without white space (RFC 7638, 3.3).
        let jwk = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        id = Base64URL.encode(SHA256.hash(data: Data(jwk.utf8)))
    }

    /// Returns whether `signature`, r followed by s (64 bytes; RFC 7518, 3.4), is this key's signature of `message`.
    ///
    /// - Returns: `false` if the signature is wrong or the bytes are not a signature.
    public func isValid(raw signature: Data, over message: some DataProtocol) -> Bool {
        guard signature.count == 64,
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: SHA256.hash(data: message))
    }

    /// Returns whether `signature`, `SEQUENCE { r, s }` (RFC 3279, 2.2.3), is this key's signature of `message`.
    ///
    /// Both high and low values of s are accepted, but only in DER and not in any other form of BER.
    ///
    /// - Returns: `false` if the signature is wrong or the bytes are not a signature.
    public func isValid(der signature: Data, over message: some DataProtocol) -> Bool {
        guard signature.count <= 72,
            let parsed = try? P256.Signing.ECDSASignature(derRepresentation: signature),
            parsed.derRepresentation == signature
        else { return false }
        return key.isValidSignature(parsed, for: SHA256.hash(data: message))
    }

    /// Returns whether the points are equal.
    public static func == (left: LoginKey, right: LoginKey) -> Bool { left.der == right.der }

    /// Hashes ``der``.
    public func hash(into hasher: inout Hasher) { hasher.combine(der) }
}
