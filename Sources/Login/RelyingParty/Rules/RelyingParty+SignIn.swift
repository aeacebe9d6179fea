// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion

extension RelyingParty {
    /// Signs in a user who answers a challenge with an assertion.
    ///
    /// A challenge signs in once. The device's key, as the store knows it, must have signed what the challenge was
    /// issued for, and the policy must allow the enrolled fingers.
    ///
    /// A device that enrolled other fingers and then has its old ones back counts as unchanged. An assertion made with
    /// the passcode while no finger is enrolled is not a change, and leaves the expected fingers as they are. A device
    /// that was enabled without fingers has changed once it has some.
    ///
    /// - Parameters:
    ///   - assertion: The assertion in compact form, as received.
    ///   - address: The client's address; empty if it is not known.
    /// - Returns: The user who signed in, the device, and the claims of the device.
    /// - Throws: every code but `keyInUse`, `tooManyDevices` and `rawRefused`. `unknownKey` if the device was revoked
    ///   or has another key by now.
    public func signIn(assertion: String, from address: String) async throws(RelyingPartyError) -> SignIn {
        try await admit(try await prove(assertion: assertion, from: address), from: address)
    }

    /// The first half of ``signIn(assertion:from:)``, for a server that checks something else too: judges the assertion,
    /// and does not sign the user in yet.
    ///
    /// ``admit(_:as:from:)`` is the second half, which uses the challenge up. A server that compares a password in
    /// between calls ``spend(_:)`` first; ``refuse(_:because:from:)`` takes the place of the second half if another
    /// check failed.
    ///
    /// - Parameters:
    ///   - assertion: The assertion in compact form, as received.
    ///   - address: The client's address; empty if it is not known.
    /// - Returns: The assertion, which is proven.
    /// - Throws: as ``signIn(assertion:from:)``.
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
            // The device has no key or another one by now, or the sender never had the right one.
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

    /// Uses up the challenge of a proven assertion before something else is compared that can be guessed, such as a
    /// password: one assertion is good for one guess.
    ///
    /// - Parameter proven: The result of ``prove(assertion:from:)``.
    /// - Returns: The same assertion, for ``admit(_:as:from:)`` or ``refuse(_:because:from:)``.
    /// - Throws: `challengeUnknown` if the challenge was answered before; `store`.
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

    /// The second half of ``signIn(assertion:from:)``: uses the challenge up, records that the device was used, and
    /// writes the audit log, in one step.
    ///
    /// - Parameters:
    ///   - proven: The result of the first half.
    ///   - methods: The methods that recognized the user, for the audit log, in the server's own words such as those of
    ///     RFC 8176.
    ///   - address: The client's address; empty if it is not known.
    /// - Returns: The user who signed in.
    /// - Throws: `challengeUnknown` if the challenge was answered before; `unknownKey` if the device was revoked or has
    ///   another key by now; `store`.
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

    /// Records that a sign-in was refused although its assertion was valid, and uses the challenge up.
    ///
    /// - Parameters:
    ///   - proven: The result of ``prove(assertion:from:)``.
    ///   - reason: The reason for the refusal, a word of the server's own.
    ///   - address: The client's address; empty if it is not known.
    /// - Throws: `challengeUnknown` if the challenge was answered before; `store`.
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

    /// Signs in a user who answers a challenge with a bare signature over its bytes.
    ///
    /// This is the form of react-native-biometrics: ECDSA with SHA-256 over the challenge's 32 bytes.
    ///
    /// - Parameters:
    ///   - user: The user for whom the challenge was issued.
    ///   - device: The device, as in ``rawChallenge(for:device:from:)``; if it is `nil`, the user's keys are tried one
    ///     by one, at most ``Configuration/devicesPerUser``.
    ///   - challenge: The 32 bytes that were signed.
    ///   - der: The signature in DER.
    ///   - address: The client's address; empty if it is not known.
    /// - Returns: The user who signed in, and the device.
    /// - Throws: as ``signIn(assertion:from:)``, and `rawRefused`. `unknownKey` if the user has no device that could
    ///   have signed; if there are some and none did, `assertionRefused` for the signature.
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

    /// Returns the nonce of the challenge that an assertion answers, if the assertion is for this server and this
    /// purpose, and the challenge was issued for its user and device.
    func nonce(
        of unverified: UnverifiedAssertion,
        for purpose: LoginClaims.Purpose
    ) async throws(RelyingPartyError) -> Nonce {
        let claims = unverified.unverifiedClaims
        // This comes before the key is looked up: a device asks its user to enable it again when it is told that the key
        // is unknown.
        guard claims.purpose == purpose else { throw RelyingPartyError(.assertionRefused(.purpose)) }
        guard claims.origin == configuration.origin else {
            throw RelyingPartyError(.assertionRefused(.origin))
        }
        return try await nonce(
            of: claims.challenge,
            for: terms(claims.user, claims.device, ChallengeUse(purpose))
        )
    }

    /// Verifies an assertion whose ``nonce(of:for:)`` is known: its purpose, origin, user, device and challenge are those
    /// that the challenge was issued for.
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

    /// Runs the step that follows after a challenge was found to be this server's.
    ///
    /// A refusal of what the device's key has signed uses the challenge up and is written to the audit log, in one step.
    /// Any other refusal can be caused by a stranger, who can get a challenge for any name: it is an event, and nothing
    /// is written.
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

    /// Uses the challenge up and marks the device as used, as the last step: only a device that is still registered with
    /// this key signs in, and only once for a challenge.
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

    /// Whether other fingers are enrolled than when the device was enabled.
    ///
    /// An empty set of fingers is not a change: only the owner of the passcode can have signed in, and the next finger
    /// that is enrolled gives another digest than the expected one.
    private static func domainHasChanged(_ claims: LoginClaims, since device: RegisteredDevice) -> Bool {
        guard let state = claims.domainState else { return false }
        guard let expected = device.domainState else { return true }
        return !state.isEqualInConstantTime(to: expected)
    }
}

extension RelyingPartyError {
    /// Whether the refusal comes after the signature was verified, so that no stranger can cause it.
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
