// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion

extension RelyingParty {
    /// Signs a user in who answers a challenge with an assertion.
    ///
    /// Its challenge is used up, whatever the answer is. Then the device's key, as the store knows it, must have signed
    /// what the challenge was given out for, and the policy must allow the fingers that are enrolled.
    ///
    /// Where the device enrolled other fingers and then has its old ones back, it is as it was; an assertion made
    /// with the passcode while no finger is enrolled is no change, and changes nothing in what is expected next.
    /// A device that was enabled without fingers has changed once it has some.
    ///
    /// - Parameters:
    ///   - assertion: In compact form, as it came.
    ///   - address: From where it comes; empty where it is not known.
    /// - Returns: Who has signed in, with which device, and what the device said.
    /// - Throws: every code but `keyInUse`, `tooManyDevices` and `rawRefused`. `unknownKey` where the device was revoked or
    ///   has another key by now.
    public func signIn(assertion: String, from address: String) async throws(RelyingPartyError) -> SignIn {
        try await admit(try await prove(assertion: assertion, from: address), from: address)
    }

    /// The first half of ``signIn(assertion:from:)``, for a server that asks for a password too: the
    /// assertion is judged, and the user has not signed in yet.
    ///
    /// Its challenge is used up, whatever the answer is. ``admit(_:as:from:)`` is the second half, and
    /// ``refuse(_:because:from:)`` where something else was wrong.
    ///
    /// - Parameters:
    ///   - assertion: In compact form, as it came.
    ///   - address: From where it comes; empty where it is not known.
    /// - Returns: What is proven.
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
            // The device has another key by now, or the one who asks never had the right one.
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

    /// The second half of ``signIn(assertion:from:)``: notes that the device was used, and writes the audit log.
    ///
    /// - Parameters:
    ///   - proven: What the first half gave.
    ///   - methods: How the user was recognised, for the audit log, in the server's own words such as those of RFC 8176.
    ///   - address: From where it comes; empty where it is not known.
    /// - Returns: Who has signed in.
    /// - Throws: `unknownKey` where the device was revoked or has another key by now; `store`.
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

    /// Writes down that a sign-in was refused although its assertion was good.
    ///
    /// - Parameters:
    ///   - proven: What ``prove(assertion:from:)`` gave.
    ///   - reason: What was wrong, a word of the server's own.
    ///   - address: From where it comes; empty where it is not known.
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

    /// Signs a user in who answers a challenge with a bare signature over its bytes.
    ///
    /// It is the form of react-native-biometrics: ECDSA with SHA-256 over the challenge's 32 bytes.
    ///
    /// - Parameters:
    ///   - user: Whom the challenge was given out for.
    ///   - device: As in ``rawChallenge(for:device:from:)``; where it is `nil`, the user's keys are tried one by one,
    ///     at most ``Configuration/devicesPerUser``.
    ///   - challenge: The 32 bytes that were signed.
    ///   - der: The signature in DER.
    ///   - address: From where it comes; empty where it is not known.
    /// - Returns: Who has signed in, with which device.
    /// - Throws: as ``signIn(assertion:from:)``, and `rawRefused`. `unknownKey` where the user has no device that could
    ///   have signed; where there are some and none did, `assertionRefused` for the signature.
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

    /// What an assertion must say that answers `record`, where it is for this server and of the challenge's user and
    /// device at all.
    func expectation(
        _ record: ChallengeRecord,
        _ device: LoginName,
        purpose: LoginClaims.Purpose,
        of unverified: UnverifiedAssertion
    ) throws(RelyingPartyError) -> AssertionExpectation {
        let claims = unverified.unverifiedClaims
        // Before a key is looked for: a device deletes its key when it hears that it is unknown.
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

    /// Runs what follows on a challenge that was taken; a refusal is written into the audit log.
    ///
    /// What a stranger can bring about, who gets a challenge for any name, has no `refusal`: such lines would push those
    /// out that matter.
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

    /// The last step: only a device that is still registered with this key signs in.
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
    /// No fingers at all are no change: nobody but the owner of the passcode has come in, and the next finger that
    /// is enrolled gives another digest than the one that is expected.
    private static func domainHasChanged(_ claims: LoginClaims, since device: RegisteredDevice) -> Bool {
        guard let state = claims.domainState else { return false }
        guard let expected = device.domainState else { return true }
        return !state.isEqualInConstantTime(to: expected)
    }
}
