// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A login assertion that is still to be signed: a JWS with ES256 (RFC 7515, RFC 7518; Docs/LoginProtocol.md).
public struct AssertionDraft: Sendable {
    /// What it says.
    public let claims: LoginClaims
    /// What is signed: header and claims, each in Base64url, with a dot between them.
    public let signingInput: Data

    /// Writes the claims down.
    public init(_ claims: LoginClaims) {
        self.claims = claims
        let header = Base64URL.encode(AssertionHeader(keyID: claims.keyID).json)
        signingInput = Data("\(header).\(Base64URL.encode(claims.json))".utf8)
    }

    /// The assertion in compact form (RFC 7515, 7.1).
    ///
    /// - Parameter signature: r and s behind each other, 64 bytes, over ``signingInput``.
    /// - Returns: Three parts with dots between them.
    public func signed(_ signature: Data) -> String {
        String(decoding: signingInput, as: UTF8.self) + "." + Base64URL.encode(signature)
    }
}

/// A login assertion as it came: it may say anything.
///
/// It names the user, the device and the key that are to be looked up. What it claims counts after
/// ``verify(with:expecting:at:)`` only.
public struct UnverifiedAssertion: Sendable {
    /// The longest in bytes, in compact form.
    public static let longest = 8_192

    /// The claims, which nobody has verified.
    public let unverifiedClaims: LoginClaims
    let signingInput: Data
    let signature: Data

    /// Reads the compact form.
    ///
    /// - Throws: ``AssertionFault/malformed`` for anything but what ``AssertionDraft`` writes, byte by byte.
    public init(_ compact: String) throws(AssertionFault) {
        guard compact.utf8.count <= Self.longest else { throw .malformed }
        let bytes = Array(compact.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = Base64URL.decode(parts[0]),
            let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2]), signature.count == 64,
            let claims = LoginClaims(json: payload),
            // There is one header for a key: what it names is not looked at, it is compared.
            header.elementsEqual(AssertionHeader(keyID: claims.keyID).json)
        else { throw .malformed }
        unverifiedClaims = claims
        signingInput = Data(bytes.prefix(parts[0].count + 1 + parts[1].count))
        self.signature = signature
    }
}

/// The header of an assertion: the algorithm is ES256 and nothing else, and the key is named, never brought along.
struct AssertionHeader {
    let keyID: String

    var json: [UInt8] {
        CanonicalJSON.object(["alg": .text("ES256"), "kid": .text(keyID), "typ": .text("whorl-login+jwt")])
            .bytes
    }
}
