// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import LoginAssertion

extension RelyingParty {
    /// Issues a challenge, 32 bytes, for one assertion by one device of one user.
    ///
    /// Neither the result nor the limits depend on whether the user and the device exist. Nothing is stored: the
    /// challenge is sealed with the store's key and contains its recipient. It can be used once, within
    /// ``Configuration/challengeLifetime``. A device may have any number of valid challenges at the same time.
    ///
    /// - Parameters:
    ///   - user: The user who wants to sign in.
    ///   - device: The device.
    ///   - purpose: The purpose of the assertion.
    ///   - address: The client's address; empty if unknown, in which case the attempt is not counted.
    /// - Returns: The challenge and its expiry time.
    /// - Throws: `tooManyTries`, `store`.
    public func challenge(
        for user: LoginName,
        device: LoginName,
        purpose: LoginClaims.Purpose,
        from address: String
    ) async throws(RelyingPartyError) -> IssuedChallenge {
        try await issue(for: terms(user, device, ChallengeUse(purpose)), from: address)
    }

    /// Issues a challenge for a bare signature over its bytes.
    ///
    /// It works like ``challenge(for:device:purpose:from:)``, but assertions are not accepted as a response.
    ///
    /// - Parameters:
    ///   - user: The user who wants to sign in.
    ///   - device: The device; `nil` if the program does not name one, in which case any of the user's devices may
    ///     respond.
    ///   - address: The client's address; empty if unknown.
    /// - Returns: The challenge and its expiry time.
    /// - Throws: `tooManyTries`, `store`; `rawRefused` if the policy requires information about fingers.
    public func rawChallenge(
        for user: LoginName,
        device: LoginName?,
        from address: String
    ) async throws(RelyingPartyError) -> IssuedChallenge {
        try await reporting { () throws(RelyingPartyError) in try acceptRaw() }
        return try await issue(for: terms(user, device, .raw), from: address)
    }

    /// Checks that accepting bare signatures would not bypass the policy.
    func acceptRaw() throws(RelyingPartyError) {
        switch configuration.domainStatePolicy {
        case .allow: return
        case .requireReenable: throw RelyingPartyError(.rawRefused)
        }
    }

    private func issue(
        for terms: ChallengeSeal.Terms,
        from address: String
    ) async throws(RelyingPartyError) -> IssuedChallenge {
        let issued = try await reporting { () async throws(RelyingPartyError) in
            try countTry(from: ClientAddress(address))
            let now = now
            let nonce = Nonce(expiresAt: now + configuration.challengeLifetime)
            let challenge = try await keys.seal(at: now, from: store).challenge(nonce, for: terms)
            return IssuedChallenge(challenge: challenge, expiresAt: nonce.expiresAt)
        }
        events(.challengeIssued(user: terms.user, device: terms.device))
        return issued
    }

    /// Returns the nonce of a valid challenge that this server has issued for these terms.
    ///
    /// It may have been used before: that is checked only when a response is accepted.
    func nonce(
        of challenge: Data,
        for terms: ChallengeSeal.Terms
    ) async throws(RelyingPartyError) -> Nonce {
        let now = now
        guard let nonce = try await keys.nonce(of: challenge, for: terms, at: now, from: store),
            nonce.expiresAt > now,
            // No instance issues a longer one: the clock was wrong then, or is wrong now.
            nonce.expiresAt <= now + configuration.challengeLifetime + configuration.clockSkew
        else { throw RelyingPartyError(.challengeUnknown) }
        return nonce
    }

    func terms(_ user: LoginName, _ device: LoginName?, _ use: ChallengeUse) -> ChallengeSeal.Terms {
        ChallengeSeal.Terms(origin: configuration.origin, user: user, device: device, use: use)
    }

    /// Counts a challenge or a response from an address.
    func countTry(from address: ClientAddress) throws(RelyingPartyError) {
        guard let limit = configuration.limits.perAddress, let key = address.bucketKey else { return }
        let bucket = RateBucket(key: key, count: limit.count, seconds: limit.seconds)
        guard let wait = addressTries.count(bucket, at: now) else { return }
        throw RelyingPartyError(.tooManyTries(retryAfter: wait))
    }
}

extension ChallengeUse {
    init(_ purpose: LoginClaims.Purpose) {
        switch purpose {
        case .enable: self = .enable
        case .login: self = .login
        }
    }
}
