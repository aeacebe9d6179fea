// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The first fault that was found in an assertion.
public enum AssertionFault: String, Error, Sendable, Hashable, CaseIterable {
    /// Its format is not the one that a device writes.
    case malformed
    /// It is for another purpose.
    case purpose
    /// It is for another server.
    case origin
    /// It is for another user.
    case user
    /// It is for another device.
    case device
    /// It names another key than the device's.
    case key
    /// It answers another challenge.
    case challenge
    /// The key did not sign it.
    case signature
    /// It is too old.
    case expired
    /// Its time is in the future.
    case notYetValid
}

/// The claims that an assertion must have to be accepted.
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
    /// The number of seconds by which the clocks may differ.
    public var clockSkew = 30

    /// Makes an expectation.
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
    ///   - key: The device's key, as the server knows it.
    ///   - expectation: The expected claims.
    ///   - now: Seconds since 1970.
    /// - Returns: The claims, which are now verified.
    /// - Throws: The first fault that was found.
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
    /// Whether the bytes are equal; the time it takes depends only on their number.
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
