// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LoginAssertion

extension RelyingParty {
    /// Registers a device's key, replacing any older key of the same device.
    ///
    /// The caller must already have authenticated `user` by other means, such as a password. The assertion proves that
    /// the sender has the private key; it must be the response to a challenge that was issued to this user for enabling
    /// a device.
    ///
    /// - Parameters:
    ///   - assertion: The assertion in compact form, as received.
    ///   - der: The public key, SubjectPublicKeyInfo of P-256, 91 bytes.
    ///   - name: The device's display name, 1 to 128 bytes, in the form that `LoginName` accepts.
    ///   - user: The user who enables the device.
    ///   - address: The client's address; empty if unknown.
    ///   - approval: The operator or device that approves the key; `nil` if only a password was used, because someone
    ///     who stole it could register a software key.
    ///   - attestation: The proof of the device's TPM, if ``Configuration/attestationPolicy`` requires it.
    ///   - condition: The device or password that authenticated `user`; if it is revoked before the device is
    ///     registered, the registration fails.
    /// - Returns: The registered device.
    /// - Throws: Any code except `unknownKey`, `reenableRequired` and `rawRefused`; `keyInUse` if the key belongs to
    ///   another user or another device.
    public func enable(
        assertion: String,
        publicKey der: Data,
        name: String,
        as user: LoginName,
        from address: String,
        approval: RegisteredDevice.Approval? = nil,
        attestation: AttestationStatement? = nil,
        provided condition: RegistrationCondition? = nil
    ) async throws(RelyingPartyError) -> RegisteredDevice {
        let address = ClientAddress(address)
        let (unverified, key, nonce) = try await reporting { () async throws(RelyingPartyError) in
            try countTry(from: address)
            let unverified = try Self.parse(assertion)
            guard let key = LoginKey(der: der), LoginName(name) != nil else {
                throw RelyingPartyError(.malformed)
            }
            let nonce = try await self.nonce(of: unverified, for: .enable)
            guard unverified.unverifiedClaims.user == user else {
                throw RelyingPartyError(.assertionRefused(.user))
            }
            return (unverified, key, nonce)
        }
        let claimed = unverified.unverifiedClaims
        return try await settle(claimed, nonce, .enableRefused, address) {
            () async throws(RelyingPartyError) in
            let claims = try verify(unverified, with: key)
            let proven = try await self.attestation(of: key, attestation, for: user, claims.device)
            let registered = RegisteredDevice(
                user: user,
                device: claims.device,
                key: key,
                name: name,
                enabledAt: now,
                lastUsedAt: nil,
                domainState: claims.domainState,
                approval: approval,
                attestation: proven
            )
            try await register(registered, using: nonce, condition, address)
            return registered
        }
    }

    private func register(
        _ device: RegisteredDevice,
        using nonce: Nonce,
        _ condition: RegistrationCondition?,
        _ address: ClientAddress
    ) async throws(RelyingPartyError) {
        let entry = AuditEntry(
            at: device.enabledAt,
            event: .enabled,
            user: device.user,
            device: device.device,
            address: address.text,
            reason: device.attestation.map { "attested \($0.level.rawValue)" }
        )
        let registration = try await store.register(
            device,
            using: nonce,
            provided: condition,
            atMost: configuration.devicesPerUser,
            audit: entry
        )
        switch registration {
        case .registered: events(.enabled(device))
        case .challengeUsed: throw RelyingPartyError(.challengeUnknown)
        case .keyInUse: throw RelyingPartyError(.keyInUse)
        case .tooManyDevices: throw RelyingPartyError(.tooManyDevices)
        case .conditionFailed: throw RelyingPartyError(.authorizationRevoked)
        }
        await purgeIfDue(of: device.user)
    }

    /// Returns the devices of a user, oldest first; empty for an unknown user.
    ///
    /// - Throws: `store`.
    public func devices(of user: LoginName) async throws(RelyingPartyError) -> [RegisteredDevice] {
        try await store.devices(of: user)
    }

    /// Returns whether a session that was started with this key is still valid, because the device has neither been
    /// revoked nor received another key.
    ///
    /// - Throws: `store`.
    public func isActive(
        device: LoginName,
        of user: LoginName,
        keyID: String
    ) async throws(RelyingPartyError) -> Bool {
        try await store.isActive(device: device, of: user, keyID: keyID)
    }

    /// Removes a device and its key, so that it can no longer sign in.
    ///
    /// - Returns: `false` if the user has no such device.
    /// - Throws: `store`.
    public func revoke(
        _ device: LoginName,
        of user: LoginName,
        from address: String = ""
    ) async throws(RelyingPartyError) -> Bool {
        try await remove(device, of: user, from: address) == 1
    }

    /// Removes all devices of a user.
    ///
    /// - Returns: The number of removed devices.
    /// - Throws: `store`.
    public func revokeAll(of user: LoginName, from address: String = "") async throws(RelyingPartyError)
        -> Int
    {
        try await remove(nil, of: user, from: address)
    }

    private func remove(
        _ device: LoginName?,
        of user: LoginName,
        from address: String
    ) async throws(RelyingPartyError) -> Int {
        let entry = entry(.revoked, user, device, ClientAddress(address))
        let removed = try await store.revoke(device, audit: entry)
        for device in removed { events(.revoked(user: user, device: device)) }
        return removed.count
    }

    /// Approves a device's key on behalf of an operator who has verified the key.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - user: The owner of the device.
    ///   - keyID: The ID of the key that the operator has verified; if the key has been replaced since then, the new
    ///     one is not approved.
    /// - Returns: `false` if the user has no such device with this key.
    /// - Throws: `store`.
    public func approve(
        _ device: LoginName,
        of user: LoginName,
        keyID: String
    ) async throws(RelyingPartyError) -> Bool {
        let entry = entry(.approved, user, device, ClientAddress(""))
        return try await store.approve(device, keyID: keyID, audit: entry)
    }

    /// Changes the display name of a device.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - user: The owner of the device.
    ///   - name: The new name, 1 to 128 bytes, in the form that `LoginName` accepts.
    ///   - address: The client's address; empty if unknown.
    /// - Returns: `false` if the user has no such device.
    /// - Throws: `malformed`, `store`.
    public func rename(
        _ device: LoginName,
        of user: LoginName,
        to name: String,
        from address: String = ""
    ) async throws(RelyingPartyError) -> Bool {
        guard LoginName(name) != nil else { throw RelyingPartyError(.malformed) }
        let entry = entry(.renamed, user, device, ClientAddress(address))
        return try await store.rename(device, to: name, audit: entry)
    }

    /// Creates an audit log entry with the current time.
    func entry(
        _ event: AuditEntry.Event,
        _ user: LoginName?,
        _ device: LoginName?,
        _ address: ClientAddress,
        _ reason: String? = nil
    ) -> AuditEntry {
        AuditEntry(at: now, event: event, user: user, device: device, address: address.text, reason: reason)
    }
}

/// Sessions that users end early, which the store remembers until they would have expired.
extension RelyingParty {
    /// Ends a session before it expires.
    ///
    /// - Parameters:
    ///   - session: The nonce of the session, which contains its expiry time.
    ///   - user: The user of the session.
    ///   - device: The device that started the session; `nil` if a password was used.
    ///   - address: The client's address; empty if unknown.
    /// - Returns: `false` if the session was already ended.
    /// - Throws: `store`.
    public func end(
        _ session: Nonce,
        of user: LoginName,
        on device: LoginName?,
        from address: String
    ) async throws(RelyingPartyError) -> Bool {
        try await store.use(session, audit: entry(.sessionEnded, user, device, ClientAddress(address)))
    }

    /// Returns whether a session was ended early.
    ///
    /// - Throws: `store`.
    public func isEnded(_ session: Nonce) async throws(RelyingPartyError) -> Bool {
        try await store.isUsed(session)
    }
}
