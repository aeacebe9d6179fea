// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import Foundation
public import LoginAssertion
internal import LoginTransport
public import SecretMemory
internal import Vault

extension LoginClient {
    /// Signs in: a challenge, one prompt, a signature of the chip, a session.
    ///
    /// Where the key is of no use (a finger was added or removed; the chip was cleared; the server does not know it, or
    /// wants another after the fingers changed) `mustEnableAgain` is thrown. No key is deleted for it: a key stays until the
    /// login is enabled again or disabled, and one that the server refused is tried again at the next attempt, so that a
    /// server that was wrong for a while costs no device its key.
    ///
    /// - Parameters:
    ///   - user: Who; without one, whoever has enabled the login here.
    ///   - reason: Why the owner is asked; `sign in to HOST as USER` if nothing is said.
    ///   - claims: What the program says to the server besides, signed with the rest: at most 16, with names of `a`–`z`,
    ///     `0`–`9` and `_` and values of at most 256 bytes.
    ///   - password: The user's password too, where the server asks for both.
    ///   - service: Whom the session's token is for, as that service calls itself: no other takes it. Without one it is for
    ///     the login server itself, which tells with it what devices there are. `LoginOrigin.credentialsService` is for
    ///     ``disable(_:telling:)`` and ``enable(_:with:deviceName:reason:)``, within a minute.
    /// - Returns: The session.
    /// - Throws: a ``LoginError``.
    public func attempt(
        _ user: LoginName? = nil,
        reason: String? = nil,
        claims: [String: String] = [:],
        password: SecretBox? = nil,
        service: String? = nil
    ) async throws(LoginError) -> LoginSession {
        try await desk().attempt(user, reason, .init(app: claims, service: service), password)
    }

    /// Signs in, and enables the login on the way where it is not: one call, and one prompt in either case.
    ///
    /// - Parameters:
    ///   - user: Who.
    ///   - deviceName: What the server shows of this device, for people; as `LoginName` takes it.
    ///   - reason: Why the owner is asked.
    ///   - claims: What the program says to the server besides.
    ///   - service: Whom the session's token is for; see ``attempt(_:reason:claims:password:service:)``.
    ///   - credential: Is asked for only where a key has to be made known to the server; `nil` ends the call with the reason
    ///     for which it was asked, `notEnabled` or `mustEnableAgain`.
    /// - Returns: The session.
    /// - Throws: a ``LoginError``.
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
        let wishes = LoginDesk.Wishes(app: claims, service: service)
        do throws(LoginError) {
            return try await desk.attempt(user, reason, wishes, nil)
        } catch {
            guard error.code == .notEnabled || error.mustEnableAgain, let credential = await credential()
            else {
                throw error
            }
            let shown = try await desk.enable(user, with: credential, deviceName: deviceName, reason)
                .recognition
            return try await desk.attempt(user, reason, wishes, nil, shown)
        }
    }
}

extension LoginDesk {
    /// Signs in with what was shown already, or asks.
    func attempt(
        _ user: LoginName?,
        _ reason: String?,
        _ wishes: Wishes,
        _ password: SecretBox?,
        _ shown: Owner.Recognition? = nil
    ) async throws(LoginError) -> LoginSession {
        guard let (user, found) = try await found(user), !found.keys.isEmpty else {
            throw LoginError(.notEnabled)
        }
        let reason = self.reason(reason, for: user)
        var shown = shown
        var record: LoginRecord? = found
        var tried: [LoginRecord.Key] = []
        var loss = LoginError(.notEnabled)
        // One key, but where answers were lost, or where another was enabled meanwhile: the server has one of them.
        while let now = record, let key = now.keys.first(where: { !tried.contains($0) }) {
            do throws(LoginError) {
                let session = try await signIn(user, now.device, key, &shown, reason, wishes, password)
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
        _ shown: inout Owner.Recognition?,
        _ reason: String,
        _ wishes: Wishes,
        _ password: SecretBox?
    ) async throws(LoginError) -> LoginSession {
        guard let pair = owner.pair(key), let device = LoginName(device) else {
            throw LoginError(.mustEnableAgain(.keyLost))
        }
        // Nobody is asked for a key that is of no use.
        if shown == nil, let loss = try await owner.loss(of: pair.item, madeFor: key.fingers) {
            throw LoginError(.mustEnableAgain(loss))
        }
        let challenge = try await challenge(.login, for: user, on: device)
        let recognition: Owner.Recognition
        if let shown {
            recognition = shown
        } else {
            recognition = try await owner.recognise(for: pair.item.access, reason)
        }
        shown = recognition
        let evaluation = recognition.evaluation
        guard !pair.item.access.isBoundToCurrentSet || evaluation.domainState == key.fingers else {
            throw LoginError(.mustEnableAgain(.fingersChanged))
        }
        let session = try await answering(challenge, .login, for: user, on: device) {
            challenge async throws(LoginError) in
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
            return try await send(.signIn(assertion, password: password, to: server)).session()
        }
        return LoginSession(
            token: session.token,
            expiresAt: session.expiresAt,
            user: user,
            device: device,
            method: recognition.method,
            readerKind: evaluation.readerKind
        )
    }
}
