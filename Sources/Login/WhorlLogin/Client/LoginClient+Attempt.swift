// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import LoginAssertion
internal import LoginTransport
public import WhorlSecretMemory

extension LoginClient {
    /// Signs in with one prompt and returns the session: the TPM signs the server's challenge.
    ///
    /// If the key is unusable, this method throws `mustEnableAgain`: a finger was added or removed, the TPM was
    /// cleared, or the server does not know the key or requires a new one after the fingers changed. The key is not
    /// deleted until the login is enabled again or disabled. A key that the server refused is tried again at the next
    /// attempt, so that a device does not lose its key because of a temporary fault of the server.
    ///
    /// - Parameters:
    ///   - user: The user; `nil` for the only user who has enabled the login on this device.
    ///   - reason: The reason shown in the prompt; by default `sign in to HOST as USER`.
    ///   - claims: Additional signed claims for the server: at most 16, with names of `a`–`z`, `0`–`9` and `_` and
    ///     values of at most 256 bytes.
    ///   - password: The user's password, if the server requires both.
    ///   - service: The service that the session token is for; no other service accepts the token. Use `nil` for the
    ///     login server itself, to list the user's devices. Use `LoginOrigin.credentialsService` for
    ///     ``disable(_:telling:)``, and for ``enable(_:with:deviceName:reason:)`` within one minute.
    /// - Returns: The session.
    /// - Throws: A ``LoginError``.
    public func attempt(
        _ user: LoginName? = nil,
        reason: String? = nil,
        claims: [String: String] = [:],
        password: SecretBox? = nil,
        service: String? = nil
    ) async throws(LoginError) -> LoginSession {
        try await desk().attempt(user, reason, .init(app: claims, service: service), password)
    }

    /// Signs in, and enables the login first if necessary.
    ///
    /// A touch authorizes one signature, so enabling the login and then signing in takes two prompts.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - deviceName: The display name of this device on the server, in the form that `LoginName` accepts.
    ///   - reason: The reason shown in the prompt.
    ///   - claims: Additional signed claims for the server.
    ///   - service: The service that the session token is for; see ``attempt(_:reason:claims:password:service:)``.
    ///   - credential: Called only if a key must be registered with the server. If it returns `nil`, this method throws
    ///     the error that made registration necessary: `notEnabled` or `mustEnableAgain`.
    /// - Returns: The session.
    /// - Throws: A ``LoginError``.
    public func start(
        _ user: LoginName,
        deviceName: String,
        reason: String? = nil,
        claims: [String: String] = [:],
        service: String? = nil,
        credential: () async -> LoginCredential?
    ) async throws(LoginError) -> LoginSession {
        guard LoginName(deviceName) != nil else { throw LoginError(.deviceNameUnusable) }
        let desk = desk()
        let wishes = LoginCall.Wishes(app: claims, service: service)
        do throws(LoginError) {
            return try await desk.attempt(user, reason, wishes, nil)
        } catch {
            guard error.code == .notEnabled || error.mustEnableAgain, let credential = await credential()
            else {
                throw error
            }
            _ = try await desk.enable(user, with: credential, deviceName: deviceName, reason)
            return try await desk.attempt(user, reason, wishes, nil)
        }
    }
}

extension LoginCall {
    /// Signs in, with one prompt for each key that is tried.
    func attempt(
        _ user: LoginName?,
        _ reason: String?,
        _ wishes: Wishes,
        _ password: SecretBox?
    ) async throws(LoginError) -> LoginSession {
        guard let (user, found) = try await found(user), !found.keys.isEmpty else {
            throw LoginError(.notEnabled)
        }
        let reason = self.reason(reason, for: user)
        var record: LoginRecord? = found
        var tried: [LoginRecord.Key] = []
        var loss = LoginError(.notEnabled)
        // There are several keys only if responses were lost or another login was enabled during this call: the server
        // has one of them.
        while let now = record, let key = now.keys.first(where: { !tried.contains($0) }) {
            do throws(LoginError) {
                let session = try await signIn(user, now.device, key, reason, wishes, password)
                if now.key != key {
                    try await makeRoom(for: user)
                    try await change(user) { $0?.knowing(key) }
                }
                return session
            } catch {
                guard case .mustEnableAgain(let reason) = error.code else { throw error }
                if reason.isOfServer { try await change(user) { $0?.refusing(key, reason) } }
                loss = error
                tried.append(key)
                record = try await self.record(of: user)
            }
        }
        throw loss
    }

    private func signIn(
        _ user: LoginName,
        _ device: String,
        _ key: LoginRecord.Key,
        _ reason: String,
        _ wishes: Wishes,
        _ password: SecretBox?
    ) async throws(LoginError) -> LoginSession {
        guard let pair = owner.pair(key), let device = LoginName(device) else {
            throw LoginError(.mustEnableAgain(.keyLost))
        }
        // No prompt for an unusable key.
        if let loss = try await owner.loss(of: pair.item, madeFor: key.fingers) {
            throw LoginError(.mustEnableAgain(loss))
        }
        let challenge = try await challenge(.login, for: user, on: device)
        let (session, method, readerKind) = try await answering(challenge, .login, for: user, on: device) {
            () async throws(LoginError) in
            try await owner.recognize(for: pair.item.access, .signIn(host), reason)
        } _: { challenge, recognition async throws(LoginError) in
            let evaluation = recognition.evaluation
            guard !pair.item.access.isBoundToCurrentSet || evaluation.domainState == key.fingers else {
                throw LoginError(.mustEnableAgain(.fingersChanged))
            }
            let assertion = try await assertion(
                .login,
                of: user,
                on: device,
                challenge,
                with: pair,
                recognition,
                asking: wishes,
                reason
            )
            let session = try await send(.signIn(assertion, password: password, to: server)).session()
            return (session, recognition.method, evaluation.readerKind)
        }
        return LoginSession(
            token: session.token,
            expiresAt: session.expiresAt,
            user: user,
            device: device,
            method: method,
            readerKind: readerKind
        )
    }
}
