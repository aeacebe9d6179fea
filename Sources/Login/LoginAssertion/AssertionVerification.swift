// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What is wrong with an assertion; the first that was found.
public enum AssertionFault: String, Error, Sendable, Hashable, CaseIterable {
    /// It is not what a device writes.
    case malformed
    /// It is for another purpose.
    case purpose
    /// It is for another server.
    case origin
    /// It is another user's.
    case user
    /// It is another device's.
    case device
    /// It is signed with another key than the device's.
    case key
    /// It answers another challenge.
    case challenge
    /// The key did not sign it.
    case signature
    /// It is too old.
    case expired
    /// It comes from the future.
    case notYetValid
}

/// What an assertion must say to be accepted.
public struct AssertionExpectation: Sendable {
    /// The server's own origin.
    public var origin: LoginOrigin
    /// Whom the challenge was given to.
    public var user: LoginName
    /// On which device.
    public var device: LoginName
    /// The challenge, 32 bytes.
    public var challenge: Data
    /// What it is for.
    public var purpose: LoginClaims.Purpose
    /// By how many seconds the clocks may differ.
    public var clockSkew = 30

    /// Describes an expectation.
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
    /// Verifies the assertion and gives what it says.
    ///
    /// Whether the challenge was used before, and whether the device is still known, is for the caller to see to.
    ///
    /// - Parameters:
    ///   - key: The device's key, as the server knows it.
    ///   - expectation: What it must say.
    ///   - now: Seconds since 1970.
    /// - Returns: The claims, which now count.
    /// - Throws: why it is not accepted.
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
    /// Whether the bytes are the same; the time it takes tells nothing but their number.
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
