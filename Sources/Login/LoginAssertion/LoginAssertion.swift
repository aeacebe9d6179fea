// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// An unsigned login assertion: a JWS with ES256 (RFC 7515, RFC 7518; Docs/LoginProtocol.md).
public struct AssertionDraft: Sendable {
    /// The claims to sign.
    public let claims: LoginClaims
    /// The bytes to sign: header and claims, each in Base64url, separated by a dot.
    public let signingInput: Data

    /// Creates a draft with these claims.
    public init(_ claims: LoginClaims) {
        self.claims = claims
        let header = Base64URL.encode(AssertionHeader(keyID: claims.keyID).json)
        signingInput = Data("\(header).\(Base64URL.encode(claims.json))".utf8)
    }

    /// Returns the assertion in compact form (RFC 7515, 7.1).
    ///
    /// - Parameter signature: r followed by s, 64 bytes, over ``signingInput``.
    /// - Returns: Three parts separated by dots.
    public func signed(_ signature: Data) -> String {
        String(decoding: signingInput, as: UTF8.self) + "." + Base64URL.encode(signature)
    }
}

/// A login assertion as received, with claims that have not been verified.
///
/// It contains the user, the device and the key to look up. Do not trust its claims before
/// ``verify(with:expecting:at:)`` has returned.
public struct UnverifiedAssertion: Sendable {
    /// The maximum length in bytes, in compact form.
    public static let longest = 8_192

    /// The claims, not yet verified.
    public let unverifiedClaims: LoginClaims
    let signingInput: Data
    let signature: Data

    /// Parses the compact form.
    ///
    /// - Throws: ``AssertionFault/malformed`` unless the bytes are exactly those that ``AssertionDraft`` writes.
    public init(_ compact: String) throws(AssertionFault) {
        guard compact.utf8.count <= Self.longest else { throw .malformed }
        let bytes = Array(compact.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = Base64URL.decode(parts[0]),
            let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2]), signature.count == 64,
            let claims = LoginClaims(json: payload),
            // Each key has exactly one header, so the header is compared rather than parsed.
            header.elementsEqual(AssertionHeader(keyID: claims.keyID).json)
        else { throw .malformed }
        unverifiedClaims = claims
        signingInput = Data(bytes.prefix(parts[0].count + 1 + parts[1].count))
        self.signature = signature
    }
}

/// The header of an assertion; the algorithm is always ES256, and the key is referenced but never included.
struct AssertionHeader {
    let keyID: String

    var json: [UInt8] {
        CanonicalJSON.object(["alg": .text("ES256"), "kid": .text(keyID), "typ": .text("whorl-login+jwt")])
            .bytes
    }
}

/// The first fault found in an assertion.
public enum AssertionFault: String, Error, Sendable, Hashable, CaseIterable {
    /// The assertion does not have the format that devices write.
    case malformed
    /// The assertion is for another purpose.
    case purpose
    /// The assertion is for another server.
    case origin
    /// The assertion is for another user.
    case user
    /// The assertion is for another device.
    case device
    /// The assertion refers to a key other than the device's.
    case key
    /// The assertion is for another challenge.
    case challenge
    /// The assertion was not signed with the key.
    case signature
    /// The assertion is too old.
    case expired
    /// The assertion was issued in the future.
    case notYetValid
}

/// The claims that an assertion must contain to be accepted.
public struct AssertionExpectation: Sendable {
    /// The server's own origin.
    public var origin: LoginOrigin
    /// The user that the challenge was issued to.
    public var user: LoginName
    /// The device that the challenge was issued to.
    public var device: LoginName
    /// The challenge, 32 bytes.
    public var challenge: Data
    /// The purpose of the assertion.
    public var purpose: LoginClaims.Purpose
    /// The tolerated difference between the clocks of the server and the device, in seconds.
    public var clockSkew = 30

    /// Creates an expectation.
    public init(
        origin: LoginOrigin,
        user: LoginName,
        device: LoginName,
        challenge: Data,
        purpose: LoginClaims.Purpose
    ) {
        self.origin = origin
        self.user = user
        self.device = device
        self.challenge = challenge
        self.purpose = purpose
    }
}

extension UnverifiedAssertion {
    /// Verifies the assertion and returns its claims.
    ///
    /// The caller must check whether the challenge was used before, and whether the device is still registered.
    ///
    /// - Parameters:
    ///   - key: The device's key, as known to the server.
    ///   - expectation: The expected claims.
    ///   - now: Seconds since 1970.
    /// - Returns: The verified claims.
    /// - Throws: The first fault found.
    public func verify(
        with key: LoginKey,
        expecting expectation: AssertionExpectation,
        at now: Int
    ) throws(AssertionFault) -> LoginClaims {
        let claims = unverifiedClaims
        guard claims.purpose == expectation.purpose else { throw .purpose }
        guard claims.origin == expectation.origin else { throw .origin }
        guard claims.user == expectation.user else { throw .user }
        guard claims.device == expectation.device else { throw .device }
        guard claims.keyID == key.id else { throw .key }
        guard claims.challenge.isEqualInConstantTime(to: expectation.challenge) else { throw .challenge }
        guard key.isValid(raw: signature, over: signingInput) else { throw .signature }
        guard claims.issuedAt <= now.saturatingAdd(expectation.clockSkew) else { throw .notYetValid }
        guard now < claims.expiresAt.saturatingAdd(expectation.clockSkew) else { throw .expired }
        return claims
    }
}

extension Data {
    /// Returns whether the bytes are equal; the time that this takes depends only on their number.
    public func isEqualInConstantTime(to other: Data) -> Bool {
        guard count == other.count else { return false }
        return zip(self, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension Int {
    fileprivate func saturatingAdd(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
