// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import LoginAssertion
internal import LoginTransport
internal import WhorlSecretMemory
internal import WhorlService

extension LoginClient {
    /// Creates a key for a user on this device and registers it with the server, with one prompt.
    ///
    /// This method can be called again at any time: the device keeps its name, and the server replaces the old key with
    /// the new one. If the process exited or the server's response was lost, calling it again completes the
    /// registration. The old key is not deleted until the server has accepted the new one.
    ///
    /// - Parameters:
    ///   - user: The user; the name must not contain a colon if the credential is a password.
    ///   - credential: A credential that identifies this user to the server.
    ///   - deviceName: The display name of this device on the server, in the form that `LoginName` accepts.
    ///   - reason: The reason shown in the prompt.
    /// - Returns: The enabled login.
    /// - Throws: `userUnusable`, `deviceNameUnusable`, `otherAccount`; `service` if the owner was not authenticated, in
    ///   which case nothing was changed; `changedMeanwhile` if the login was disabled during the call; `unauthorized`
    ///   and other refusals, after which the former key is unchanged; `transport`, `serverFailed` and `answerRefused`,
    ///   after which the server may or may not have the new key.
    @discardableResult
    public func enable(
        _ user: LoginName,
        with credential: LoginCredential,
        deviceName: String,
        reason: String? = nil
    ) async throws(LoginError) -> EnabledLogin {
        try await desk().enable(user, with: credential, deviceName: deviceName, reason)
    }
}

extension LoginCall {
    /// Creates a key and registers it, with one prompt.
    func enable(
        _ user: LoginName,
        with credential: LoginCredential,
        deviceName: String,
        _ reason: String?
    ) async throws(LoginError) -> EnabledLogin {
        // Refuse as much as possible before the prompt.
        guard LoginName(deviceName) != nil else { throw LoginError(.deviceNameUnusable) }
        let authorization = try credential.authorization(of: user)
        try await checkAccounts(beside: user)
        let access = try await accessForNewKey()
        let called = try await record(of: user)?.device ?? LoginRecord.newDevice()
        guard let device = LoginName(called) else { throw LoginError(.recordDamaged) }

        let challenge = try await challenge(.enable, for: user, on: device)
        let (item, attestation) = try await makeKey(access, for: user, on: device)
        let reason = self.reason(reason, for: user)
        let made = LoginRecord.Key(item: item.encoded, fingers: nil, name: deviceName, enabledAt: nil)
        guard let publicKey = owner.pair(made)?.key else { throw LoginError(.notReleased) }
        let known = try await register(made, of: user, on: device, challenge, reason) {
            .enable(
                $0,
                key: publicKey,
                name: deviceName,
                attestation: attestation,
                authorization: authorization,
                to: server
            )
        }

        try await makeRoom(for: user)
        // If another attempt has found out in between that the server does not have this key, or another key was
        // accepted as well, the next attempt resolves it.
        try await change(user, of: device) { $0.map { $0.knowing(known) ?? $0.trying(known) } }
        guard let pair = owner.pair(known), let login = EnabledLogin(user, device.text, pair) else {
            throw LoginError(.notReleased)
        }
        return login
    }

    /// Prompts the owner and registers a key with the server.
    ///
    /// - Parameters:
    ///   - made: The new key, not yet with the fingers that it is bound to.
    ///   - user: The user.
    ///   - device: The device.
    ///   - challenge: The server's challenge.
    ///   - reason: The reason shown in the prompt.
    ///   - request: Returns the request with an assertion.
    /// - Returns: The key with the fingers that were enrolled at the time of the prompt, and the time when the server
    ///   accepted it.
    /// - Throws: The errors of ``enable(_:with:deviceName:_:)``.
    private func register(
        _ made: LoginRecord.Key,
        of user: LoginName,
        on device: LoginName,
        _ challenge: Challenge,
        _ reason: String,
        _ request: (_ assertion: String) -> LoginRequest
    ) async throws(LoginError) -> LoginRecord.Key {
        guard let access = owner.pair(made)?.item.access else { throw LoginError(.notReleased) }
        var kept: LoginRecord.Key?
        do throws(LoginError) {
            return try await answering(challenge, .enable, for: user, on: device) {
                () async throws(LoginError) in
                try await owner.recognize(for: access, .signIn(host), reason)
            } _: { challenge, recognition async throws(LoginError) in
                var key = made
                key.fingers = recognition.evaluation.domainState
                guard let pair = owner.pair(key) else { throw LoginError(.notReleased) }
                let assertion = try await assertion(
                    .enable,
                    of: user,
                    on: device,
                    challenge,
                    with: pair,
                    recognition,
                    reason
                )
                if kept != key {
                    // The key is stored before it is sent: whatever happens next, this device knows the key that the
                    // server may have.
                    let (isFirst, next) = (kept == nil, key)
                    try await change(user, of: device) { record in
                        let present = record ?? (isFirst ? LoginRecord(device: device.text) : nil)
                        return present?.forgetting(next).trying(next)
                    }
                    kept = key
                }
                key.enabledAt = try await send(request(assertion)).checkRegistered(user, device, pair.key)
                return key
            }
        } catch {
            if let key = kept, error.isRefusal { try await change(user) { $0?.forgetting(key) } }
            throw error
        }
    }

    /// Changes the record of the device that is being enabled.
    ///
    /// - Throws: `changedMeanwhile` if the login was disabled: the record belongs to another device, or does not exist
    ///   and is not added.
    private func change(
        _ user: LoginName,
        of device: LoginName,
        _ change: @escaping @Sendable (LoginRecord?) -> LoginRecord?
    ) async throws(LoginError) {
        let isChanged = try await self.change(user) { present in
            present.map { $0.device == device.text } ?? true ? change(present) : nil
        }
        guard isChanged else { throw LoginError(.changedMeanwhile) }
    }

    /// Checks that no other user has enabled the login, unless several accounts are allowed; ignores unfinished logins.
    private func checkAccounts(beside user: LoginName) async throws(LoginError) {
        guard !options.allowsSeveralAccounts else { return }
        for other in try await users() where other != user {
            guard try await record(of: other)?.key == nil else { throw LoginError(.otherAccount(other)) }
        }
    }

    /// Deletes the unfinished logins of other users, once a login is enabled.
    func makeRoom(for user: LoginName) async throws(LoginError) {
        guard !options.allowsSeveralAccounts else { return }
        for other in try await users() where other != user {
            if try await record(of: other)?.key == nil { try await delete(other) }
        }
    }

    /// Returns the access control for a new key; a finger must be enrolled, and the reader must be connected.
    private func accessForNewKey() async throws(LoginError) -> AccessControl {
        let now = await owner.preflight()
        let access = options.access(withPasscode: now.isPasscodeSet)
        switch now.obstacle {
        case nil: break
        // If fingers are locked out, the passcode unlocks them in the prompt.
        case let obstacle? where obstacle.code == .biometryLockout && access.takesPasscode: break
        case let obstacle?: throw LoginError(.service(obstacle))
        }
        return access
    }
}

extension LoginError {
    /// Whether the error means that the server does not have the key, because it refused the request or because nothing
    /// was signed after a refusal.
    fileprivate var isRefusal: Bool {
        switch code {
        case .unauthorized, .refused, .tooManyTries, .mustEnableAgain, .notReleased, .service: true
        case .notEnabled, .otherAccount, .severalAccounts, .userUnusable, .deviceNameUnusable,
            .claimsRefused, .changedMeanwhile, .recordDamaged, .transport, .answerRefused,
            .serverFailed:
            false
        }
    }
}

/// The TPM's proof of how a new key is protected.
extension LoginCall {
    /// Creates a key, along with its attestation if the options require one.
    func makeKey(
        _ access: AccessControl,
        for user: LoginName,
        on device: LoginName
    ) async throws(LoginError) -> (item: SealedItem, attestation: AttestationStatement?) {
        guard options.attests else { return (try await owner.makeKey(access), nil) }
        let identity = try await owner.chipIdentity()
        let answer = try await send(.credential(for: user, on: device, identity, to: server)).credential()
        let made = try await owner.makeKey(
            access,
            attestedFor: ChipCredential(
                for: identity,
                credential: answer.credential,
                seed: answer.secret,
                preface: AttestationStatement.preface(nonce: answer.nonce)
            )
        )
        return (made.item, AttestationStatement(made, of: identity, nonce: answer.nonce))
    }
}

extension AttestationStatement {
    fileprivate init(_ made: AttestedKey, of identity: ChipIdentity, nonce: Data) {
        self.init(
            nonce: nonce,
            endorsementKey: identity.endorsementKey,
            certificate: identity.certificate,
            attestationKey: identity.attestationKey,
            key: made.key,
            authority: made.authority,
            counter: made.counter,
            counterValue: made.counterValue,
            passcode: made.passcode,
            statement: made.statement,
            signature: made.signature
        )
    }
}
