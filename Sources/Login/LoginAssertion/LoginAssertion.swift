// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A login assertion that is not signed yet: a JWS with ES256 (RFC 7515, RFC 7518; Docs/LoginProtocol.md).
public struct AssertionDraft: Sendable {
    /// The claims.
    public let claims: LoginClaims
    /// The bytes to sign: header and claims, each in Base64url, with a dot between them.
    public let signingInput: Data

    /// Makes a draft with these claims.
    public init(_ claims: LoginClaims) {
        self.claims = claims
        let header = Base64URL.encode(AssertionHeader(keyID: claims.keyID).json)
        signingInput = Data("\(header).\(Base64URL.encode(claims.json))".utf8)
    }

    /// Returns the assertion in compact form (RFC 7515, 7.1).
    ///
    /// - Parameter signature: r followed by s, 64 bytes, over ``signingInput``.
    /// - Returns: Three parts with dots between them.
    public func signed(_ signature: Data) -> String {
        String(decoding: signingInput, as: UTF8.self) + "." + Base64URL.encode(signature)
    }
}

/// A login assertion as received: its claims are not verified.
///
/// It names the user, the device and the key to look up. Its claims are valid only after
/// ``verify(with:expecting:at:)``.
public struct UnverifiedAssertion: Sendable {
    /// The maximum length in bytes, in compact form.
    public static let longest = 8_192

    /// The claims, which are not verified.
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
            // There is exactly one header for a key: the header is compared, not parsed.
            header.elementsEqual(AssertionHeader(keyID: claims.keyID).json)
        else { throw .malformed }
        unverifiedClaims = claims
        signingInput = Data(bytes.prefix(parts[0].count + 1 + parts[1].count))
        self.signature = signature
    }
}

/// The header of an assertion: the algorithm is always ES256, and the key is named, never included.
struct AssertionHeader {
    let keyID: String

    var json: [UInt8] {
        CanonicalJSON.object(["alg": .text("ES256"), "kid": .text(keyID), "typ": .text("whorl-login+jwt")])
            .bytes
    }
}
