// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion

extension RelyingParty {
    /// Signs in a user who responds to a challenge with an assertion.
    ///
    /// A challenge can be used once. The assertion must match the terms of the challenge and be signed with the
    /// device's registered key, and the policy must allow the enrolled fingers.
    ///
    /// If the fingers on a device are changed and the old ones are then restored, they count as unchanged. An assertion
    /// made with the passcode while no finger is enrolled does not count as a change, and does not affect the expected
    /// fingers. For a device that was enabled without fingers, enrolling a finger is a change.
    ///
    /// - Parameters:
    ///   - assertion: The assertion in compact form, as received.
    ///   - address: The client's address; empty if unknown.
    /// - Returns: The sign-in, with its user, its device, and the device's claims.
    /// - Throws: Any code except `keyInUse`, `tooManyDevices` and `rawRefused`; `unknownKey` if the device was revoked
    ///   or now has another key.
    public func signIn(assertion: String, from address: String) async throws(RelyingPartyError) -> SignIn {
        try await admit(try await prove(assertion: assertion, from: address), from: address)
    }

    /// Verifies an assertion without signing the user in; this is the first half of ``signIn(assertion:from:)``, for a
    /// server with additional checks.
    ///
    /// The second half is ``admit(_:as:from:)``, which uses up the challenge. A server that checks a password in
    /// between must call ``spend(_:)`` first. If another check fails, the server calls ``refuse(_:because:from:)``
    /// instead of the second half.
    ///
    /// - Parameters:
    ///   - assertion: The assertion in compact form, as received.
    ///   - address: The client's address; empty if unknown.
    /// - Returns: The verified assertion.
    /// - Throws: The errors of ``signIn(assertion:from:)``.
    public func prove(assertion: String, from address: String) async throws(RelyingPartyError)
        -> ProvenAssertion
    {
        let address = ClientAddress(address)
        let (unverified, nonce) = try await reporting { () async throws(RelyingPartyError) in
            try countTry(from: address)
            let unverified = try Self.parse(assertion)
            return (unverified, try await self.nonce(of: unverified, for: .login))
        }
        let claimed = unverified.unverifiedClaims
        return try await settle(claimed, nonce, .signInRefused, address) {
            () async throws(RelyingPartyError) in
            // The device has no key or a new one, or the sender never had the right one.
            guard let known = try await store.device(claimed.device, of: claimed.user),
                claimed.keyID == known.keyID
            else { throw RelyingPartyError(.unknownKey) }
            let claims = try verify(unverified, with: known.key)
            let hasChanged = Self.domainHasChanged(claims, since: known)
            if hasChanged, configuration.domainStatePolicy == .requireReenable {
                throw RelyingPartyError(.reenableRequired)
            }
            return ProvenAssertion(
                claims: claims,
                device: known,
                hasChangedFingers: hasChanged,
                nonce: nonce
            )
        }
    }

    /// Uses up the challenge of a verified assertion before something guessable is checked, such as a password, so that
    /// one assertion allows only one guess.
    ///
    /// - Parameter proven: The result of ``prove(assertion:from:)``.
    /// - Returns: The same assertion, for ``admit(_:as:from:)`` or ``refuse(_:because:from:)``.
    /// - Throws: `challengeUnknown` if the challenge was used before; `store`.
    public func spend(_ proven: ProvenAssertion) async throws(RelyingPartyError) -> ProvenAssertion {
        guard let nonce = proven.nonce else { return proven }
        return try await reporting(user: proven.device.user, device: proven.device.device) {
            () async throws(RelyingPartyError) in
            guard try await store.use(nonce, audit: nil) else { throw RelyingPartyError(.challengeUnknown) }
            var spent = proven
            spent.nonce = nil
            return spent
        }
    }

    /// Completes a sign-in; this is the second half of ``signIn(assertion:from:)``.
    ///
    /// It uses up the challenge, records that the device was used, and writes to the audit log, all in one step.
    ///
    /// - Parameters:
    ///   - proven: The result of the first half.
    ///   - methods: The methods that authenticated the user, for the audit log, under names that the server chooses,
    ///     such as those of RFC 8176.
    ///   - address: The client's address; empty if unknown.
    /// - Returns: The signed-in user.
    /// - Throws: `challengeUnknown` if the challenge was used before; `unknownKey` if the device was revoked or now has
    ///   another key; `store`.
    public func admit(
        _ proven: ProvenAssertion,
        as methods: [String] = [],
        from address: String
    ) async throws(RelyingPartyError) -> SignIn {
        let device = proven.device
        let how = methods.isEmpty ? nil : methods.joined(separator: " ")
        return try await reporting(user: device.user, device: device.device) {
            () async throws(RelyingPartyError) in
            let used = try await signIn(device, using: proven.nonce, ClientAddress(address), how)
            if proven.hasChangedFingers { events(.domainStateChanged(used)) }
            return SignIn(claims: proven.claims, device: used)
        }
    }

    /// Uses up the challenge and records that a sign-in was refused despite a valid assertion.
    ///
    /// - Parameters:
    ///   - proven: The result of ``prove(assertion:from:)``.
    ///   - reason: The reason for the refusal, as one word.
    ///   - address: The client's address; empty if unknown.
    /// - Throws: `challengeUnknown` if the challenge was used before; `store`.
    public func refuse(
        _ proven: ProvenAssertion,
        because reason: String,
        from address: String
    ) async throws(RelyingPartyError) {
        let (user, device) = (proven.device.user, proven.device.device)
        let entry = entry(.signInRefused, user, device, ClientAddress(address), reason)
        guard let nonce = proven.nonce else { return try await store.record(entry) }
        guard try await store.use(nonce, audit: entry) else { throw RelyingPartyError(.challengeUnknown) }
    }

    /// Signs in a user who responds to a challenge with a bare signature over its bytes.
    ///
    /// This is the format of react-native-biometrics: ECDSA with SHA-256 over the challenge's 32 bytes.
    ///
    /// - Parameters:
    ///   - user: The user that the challenge was issued for.
    ///   - device: The device, as in ``rawChallenge(for:device:from:)``; if it is `nil`, the user's keys are tried in
    ///     turn, up to ``Configuration/devicesPerUser`` of them.
    ///   - challenge: The challenge, 32 bytes.
    ///   - der: The signature in DER.
    ///   - address: The client's address; empty if unknown.
    /// - Returns: The sign-in, with its user and its device.
    /// - Throws: The errors of ``signIn(assertion:from:)``, and `rawRefused`; `unknownKey` if the user has no device
    ///   that could have signed; `assertionRefused` for the signature if the user has such devices but none of them
    ///   signed.
    public func signIn(
        user: LoginName,
        device: LoginName?,
        challenge: Data,
        signature der: Data,
        from address: String
    ) async throws(RelyingPartyError) -> SignIn {
        let address = ClientAddress(address)
        let nonce = try await reporting { () async throws(RelyingPartyError) in
            try countTry(from: address)
            guard challenge.count == LoginClaims.challengeSize else { throw RelyingPartyError(.malformed) }
            try acceptRaw()
            return try await self.nonce(of: challenge, for: terms(user, device, .raw))
        }
        return try await reporting(user: user, device: device) { () async throws(RelyingPartyError) in
            let tried = try await devices(of: user, named: device).prefix(configuration.devicesPerUser)
            guard !tried.isEmpty else { throw RelyingPartyError(.unknownKey) }
            guard let known = tried.first(where: { $0.key.isValid(der: der, over: challenge) }) else {
                throw RelyingPartyError(.assertionRefused(.signature))
            }
            return SignIn(claims: nil, device: try await signIn(known, using: nonce, address, nil))
        }
    }

    private func devices(of user: LoginName, named device: LoginName?) async throws(RelyingPartyError)
        -> [RegisteredDevice]
    {
        guard let device else { return try await store.devices(of: user) }
        return try await [store.device(device, of: user)].compactMap { $0 }
    }

    static func parse(_ assertion: String) throws(RelyingPartyError) -> UnverifiedAssertion {
        do {
            return try UnverifiedAssertion(assertion)
        } catch {
            throw RelyingPartyError(.malformed)
        }
    }

    /// Returns the nonce of the challenge in an assertion, if the assertion is for this server and purpose, and the
    /// challenge was issued for its user and device.
    func nonce(
        of unverified: UnverifiedAssertion,
        for purpose: LoginClaims.Purpose
    ) async throws(RelyingPartyError) -> Nonce {
        let claims = unverified.unverifiedClaims
        // Checked before looking up the key, because a device prompts its user to enable it again if the key is
        // unknown.
        guard claims.purpose == purpose else { throw RelyingPartyError(.assertionRefused(.purpose)) }
        guard claims.origin == configuration.origin else {
            throw RelyingPartyError(.assertionRefused(.origin))
        }
        return try await nonce(
            of: claims.challenge,
            for: terms(claims.user, claims.device, ChallengeUse(purpose))
        )
    }

    /// Verifies an assertion after ``nonce(of:for:)`` has checked that its purpose, origin, user, device and challenge
    /// match the challenge's terms.
    func verify(
        _ unverified: UnverifiedAssertion,
        with key: LoginKey
    ) throws(RelyingPartyError) -> LoginClaims {
        let claims = unverified.unverifiedClaims
        var expectation = AssertionExpectation(
            origin: configuration.origin,
            user: claims.user,
            device: claims.device,
            challenge: claims.challenge,
            purpose: claims.purpose
        )
        expectation.clockSkew = configuration.clockSkew
        do throws(AssertionFault) {
            return try unverified.verify(with: key, expecting: expectation, at: now)
        } catch {
            throw RelyingPartyError(.assertionRefused(error))
        }
    }

    /// Runs the next step for a challenge that this server issued.
    ///
    /// If a response with a valid signature of the device's key is refused, the challenge is used up and the refusal is
    /// written to the audit log, in one step. Anyone can cause other refusals, because challenges are issued for any
    /// name. Such refusals are only reported as events, and nothing is written.
    func settle<Value>(
        _ claims: LoginClaims,
        _ nonce: Nonce,
        _ refusal: AuditEntry.Event,
        _ address: ClientAddress,
        _ body: () async throws(RelyingPartyError) -> Value
    ) async throws(RelyingPartyError) -> Value {
        try await reporting(user: claims.user, device: claims.device) { () async throws(RelyingPartyError) in
            do throws(RelyingPartyError) {
                return try await body()
            } catch {
                guard error.isOfSigner else { throw error }
                let entry = entry(refusal, claims.user, claims.device, address, error.word)
                guard try await store.use(nonce, audit: entry) else {
                    throw RelyingPartyError(.challengeUnknown)
                }
                throw error
            }
        }
    }

    /// Uses up the challenge and marks the device as used, as the last step; this succeeds once per challenge, and only
    /// if the device is still registered with this key.
    private func signIn(
        _ device: RegisteredDevice,
        using nonce: Nonce?,
        _ address: ClientAddress,
        _ how: String?
    ) async throws(RelyingPartyError) -> RegisteredDevice {
        var used = device
        used.lastUsedAt = now
        let entry = entry(.signedIn, device.user, device.device, address, how)
        switch try await store.signIn(used, using: nonce, audit: entry) {
        case .signedIn: break
        case .challengeUsed: throw RelyingPartyError(.challengeUnknown)
        case .unknownKey: throw RelyingPartyError(.unknownKey)
        }
        events(.signedIn(used))
        await purgeIfDue(of: used.user)
        return used
    }

    /// Returns whether the enrolled fingers have changed since the device was enabled.
    ///
    /// An empty set of fingers is not a change: only someone with the passcode can have signed in, and enrolling
    /// another finger results in a different digest.
    private static func domainHasChanged(_ claims: LoginClaims, since device: RegisteredDevice) -> Bool {
        guard let state = claims.domainState else { return false }
        guard let expected = device.domainState else { return true }
        return !state.isEqualInConstantTime(to: expected)
    }
}

extension RelyingPartyError {
    /// Whether the refusal occurs only after the signature was verified, so that outsiders cannot cause it.
    fileprivate var isOfSigner: Bool {
        switch code {
        case .assertionRefused(let fault): fault == .expired || fault == .notYetValid
        case .reenableRequired, .keyInUse, .tooManyDevices, .authorizationRevoked, .attestationRequired,
            .attestationRefused:
            true
        case .malformed, .challengeUnknown, .unknownKey, .tooManyTries, .rawRefused, .store: false
        }
    }
}
