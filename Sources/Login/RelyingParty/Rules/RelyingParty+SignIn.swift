// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion

extension RelyingParty {
    /// Signs in a user who answers a challenge with an assertion.
    ///
    /// The challenge is used up, whatever the result. The device's key, as the store knows it, must have signed what
    /// the challenge was issued for, and the policy must allow the enrolled fingers.
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

    /// The first half of ``signIn(assertion:from:)``, for a server that asks for a password too: judges the assertion,
    /// and does not sign the user in yet.
    ///
    /// The challenge is used up, whatever the result. ``admit(_:as:from:)`` is the second half;
    /// ``refuse(_:because:from:)`` takes its place if another check failed.
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
        let (unverified, record, devices) = try await reporting { () async throws(RelyingPartyError) in
            let unverified = try Self.parse(assertion)
            let (record, devices) = try await take(unverified.unverifiedClaims.challenge, from: address)
            return (unverified, record, devices)
        }
        let isKnown = devices.contains { $0.keyID == unverified.unverifiedClaims.keyID }
        return try await settle(record, isKnown ? .signInRefused : nil, address) {
            () async throws(RelyingPartyError) in
            guard record.use == .login, let device = record.device else {
                throw RelyingPartyError(.assertionRefused(.purpose))
            }
            let expectation = try expectation(record, device, purpose: .login, of: unverified)
            guard let known = devices.first else { throw RelyingPartyError(.unknownKey) }
            // The device has another key by now, or the sender never had the right one.
            guard unverified.unverifiedClaims.keyID == known.keyID else {
                throw RelyingPartyError(.unknownKey)
            }
            let claims = try verify(unverified, with: known.key, expecting: expectation)
            let hasChanged = Self.domainHasChanged(claims, since: known)
            if hasChanged, configuration.domainStatePolicy == .requireReenable {
                throw RelyingPartyError(.reenableRequired)
            }
            return ProvenAssertion(claims: claims, device: known, hasChangedFingers: hasChanged)
        }
    }

    /// The second half of ``signIn(assertion:from:)``: records that the device was used, and writes the audit log.
    ///
    /// - Parameters:
    ///   - proven: The result of the first half.
    ///   - methods: The methods that recognised the user, for the audit log, in the server's own words such as those of
    ///     RFC 8176.
    ///   - address: The client's address; empty if it is not known.
    /// - Returns: The user who signed in.
    /// - Throws: `unknownKey` if the device was revoked or has another key by now; `store`.
    public func admit(
        _ proven: ProvenAssertion,
        as methods: [String] = [],
        from address: String
    ) async throws(RelyingPartyError) -> SignIn {
        let device = proven.device
        let how = methods.isEmpty ? nil : methods.joined(separator: " ")
        return try await reporting(user: device.user, device: device.device) {
            () async throws(RelyingPartyError) in
            let used = try await markUsed(device, ClientAddress(address), how)
            if proven.hasChangedFingers { events(.domainStateChanged(used)) }
            return SignIn(claims: proven.claims, device: used)
        }
    }

    /// Records that a sign-in was refused although its assertion was valid.
    ///
    /// - Parameters:
    ///   - proven: The result of ``prove(assertion:from:)``.
    ///   - reason: The reason for the refusal, a word of the server's own.
    ///   - address: The client's address; empty if it is not known.
    /// - Throws: `store`.
    public func refuse(
        _ proven: ProvenAssertion,
        because reason: String,
        from address: String
    ) async throws(RelyingPartyError) {
        try await note(
            .signInRefused,
            of: proven.device.user,
            on: proven.device.device,
            because: reason,
            from: address
        )
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
        let (record, devices) = try await reporting { () async throws(RelyingPartyError) in
            guard challenge.count == LoginClaims.challengeSize else { throw RelyingPartyError(.malformed) }
            let taken = try await take(challenge, from: address)
            return taken
        }
        // A refused signature names no key.
        return try await settle(record, nil, address) { () async throws(RelyingPartyError) in
            try acceptRaw()
            guard record.use == .raw else { throw RelyingPartyError(.assertionRefused(.purpose)) }
            guard record.user == user else { throw RelyingPartyError(.assertionRefused(.user)) }
            guard record.device == device else { throw RelyingPartyError(.assertionRefused(.device)) }
            guard !devices.isEmpty else { throw RelyingPartyError(.unknownKey) }
            let tried = devices.prefix(configuration.devicesPerUser)
            guard let known = tried.first(where: { $0.key.isValid(der: der, over: challenge) }) else {
                throw RelyingPartyError(.assertionRefused(.signature))
            }
            return SignIn(claims: nil, device: try await markUsed(known, address, nil))
        }
    }

    static func parse(_ assertion: String) throws(RelyingPartyError) -> UnverifiedAssertion {
        do {
            return try UnverifiedAssertion(assertion)
        } catch {
            throw RelyingPartyError(.malformed)
        }
    }

    /// Returns the claims that an assertion must make to answer `record`, if it is for this server and for the
    /// challenge's user and device.
    func expectation(
        _ record: ChallengeRecord,
        _ device: LoginName,
        purpose: LoginClaims.Purpose,
        of unverified: UnverifiedAssertion
    ) throws(RelyingPartyError) -> AssertionExpectation {
        let claims = unverified.unverifiedClaims
        // This comes before the key is looked up: a device deletes its key when it is told that the key is unknown.
        guard claims.purpose == purpose else { throw RelyingPartyError(.assertionRefused(.purpose)) }
        guard claims.origin == configuration.origin else {
            throw RelyingPartyError(.assertionRefused(.origin))
        }
        guard claims.user == record.user else { throw RelyingPartyError(.assertionRefused(.user)) }
        guard claims.device == device else { throw RelyingPartyError(.assertionRefused(.device)) }
        var expectation = AssertionExpectation(
            origin: configuration.origin,
            user: record.user,
            device: device,
            // The challenge was looked up by the digest of these bytes.
            challenge: claims.challenge,
            purpose: purpose
        )
        expectation.clockSkew = configuration.clockSkew
        return expectation
    }

    func verify(
        _ unverified: UnverifiedAssertion,
        with key: LoginKey,
        expecting expectation: AssertionExpectation
    ) throws(RelyingPartyError) -> LoginClaims {
        do throws(AssertionFault) {
            return try unverified.verify(with: key, expecting: expectation, at: now)
        } catch {
            throw RelyingPartyError(.assertionRefused(error))
        }
    }

    /// Runs the step that follows after a challenge was taken; a refusal is written to the audit log.
    ///
    /// A stranger can get a challenge for any name. Refusals that a stranger can cause have no `refusal`: such lines
    /// would push out those that matter.
    func settle<Value>(
        _ record: ChallengeRecord,
        _ refusal: AuditEntry.Event?,
        _ address: ClientAddress,
        _ body: () async throws(RelyingPartyError) -> Value
    ) async throws(RelyingPartyError) -> Value {
        try await reporting(user: record.user, device: record.device) { () async throws(RelyingPartyError) in
            do throws(RelyingPartyError) {
                return try await body()
            } catch {
                if error.code != .store, let refusal { try await write(refusal, record, address, why: error) }
                throw error
            }
        }
    }

    private func write(
        _ refusal: AuditEntry.Event,
        _ record: ChallengeRecord,
        _ address: ClientAddress,
        why error: RelyingPartyError
    ) async throws(RelyingPartyError) {
        try await store.record(
            AuditEntry(
                at: now,
                event: refusal,
                user: record.user,
                device: record.device,
                address: address.text,
                reason: error.word
            )
        )
    }

    /// Marks the device as used, as the last step: only a device that is still registered with this key signs in.
    private func markUsed(
        _ device: RegisteredDevice,
        _ address: ClientAddress,
        _ how: String?
    ) async throws(RelyingPartyError) -> RegisteredDevice {
        let used = RegisteredDevice(
            user: device.user,
            device: device.device,
            key: device.key,
            name: device.name,
            enabledAt: device.enabledAt,
            lastUsedAt: now,
            domainState: device.domainState,
            approval: device.approval
        )
        let entry = AuditEntry(
            at: now,
            event: .signedIn,
            user: device.user,
            device: device.device,
            address: address.text,
            reason: how
        )
        guard try await store.markUsed(used, audit: entry) else { throw RelyingPartyError(.unknownKey) }
        events(.signedIn(used))
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
