// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import Foundation
internal import Keychain
public import LoginAssertion
internal import LoginTransport
internal import SecretMemory
internal import Vault

extension LoginClient {
    /// Makes a key for a user on this device, and makes it known to the server; one prompt.
    ///
    /// It may be called again at any time: the device keeps its name, and the server puts the new key in the old one's
    /// place. Where the process ended, or the server's answer was lost, calling it again goes on from there; until the
    /// server has taken the new key, the old one stays.
    ///
    /// - Parameters:
    ///   - user: Who signs in; the name may not hold a colon where a password is given.
    ///   - credential: What shows the server that it is this user.
    ///   - deviceName: What the server shows of this device, for people; as `LoginName` takes it.
    ///   - reason: Why the owner is asked.
    /// - Returns: The login as it is enabled.
    /// - Throws: `userUnusable`, `deviceNameUnusable`, `otherAccount`; `evaluation` where the owner was not recognised, and
    ///   then nothing was changed; `changedMeanwhile` where the login was disabled in between; `unauthorized` and other refusals, and then the former key is as it was; `transport`, `serverFailed` and
    ///   `answerRefused`, and then it is not known whether the server has the new key.
    @discardableResult
    public func enable(
        _ user: LoginName,
        with credential: LoginCredential,
        deviceName: String,
        reason: String? = nil
    ) async throws(LoginError) -> EnabledLogin {
        try await desk().enable(user, with: credential, deviceName: deviceName, reason).login
    }
}

extension LoginDesk {
    /// Enables, and gives what was shown for it besides.
    func enable(
        _ user: LoginName,
        with credential: LoginCredential,
        deviceName: String,
        _ reason: String?
    ) async throws(LoginError) -> (login: EnabledLogin, recognition: Owner.Recognition) {
        // What can be refused is refused before anybody is asked.
        guard LoginName(deviceName) != nil else { throw LoginError(.deviceNameUnusable) }
        let authorization = try credential.authorization(of: user)
        try await checkAccounts(beside: user)
        let access = try await accessForNewKey()
        let called = try await record(of: user)?.device ?? LoginRecord.newDevice()
        guard let device = LoginName(called) else { throw LoginError(.keychain(errSecInvalidRecord)) }

        let challenge = try await challenge(.enable, for: user, on: device)
        let item = try await owner.makeKey(access)
        let reason = self.reason(reason, for: user)
        let recognition = try await owner.recognise(for: access, reason)
        var key = LoginRecord.Key(
            item: item.encoded,
            fingers: recognition.evaluation.domainState,
            name: deviceName,
            enabledAt: nil
        )
        guard let pair = owner.pair(key) else { throw LoginError(.notReleased) }
        key.enabledAt = try await register(pair, of: user, on: device, challenge, recognition, reason) {
            .enable($0, key: pair.key, name: deviceName, authorization: authorization, to: server)
        }

        let known = key
        try await makeRoom(for: user)
        // Where an attempt was told in between that the server does not have it, or another was taken too, the next finds
        // out.
        try await change(user, of: device) { $0.map { $0.knowing(known) ?? $0.trying(known) } }
        guard let pair = owner.pair(known), let login = EnabledLogin(user, device.text, pair) else {
            throw LoginError(.notReleased)
        }
        return (login, recognition)
    }

    /// Has the server take a key, and gives when it did.
    private func register(
        _ pair: LoginKeyPair,
        of user: LoginName,
        on device: LoginName,
        _ challenge: Challenge,
        _ recognition: Owner.Recognition,
        _ reason: String,
        _ request: (_ assertion: String) -> LoginRequest
    ) async throws(LoginError) -> Date {
        let key = pair.record
        var isKept = false
        do throws(LoginError) {
            return try await answering(challenge, .enable, for: user, on: device) {
                challenge async throws(LoginError) in
                let assertion = try await assertion(
                    .enable,
                    of: user,
                    on: device,
                    challenge,
                    with: pair,
                    recognition,
                    reason
                )
                if !isKept {
                    // Before it is sent: whatever happens from here on, the key that the server may have is known here.
                    try await change(user, of: device) {
                        ($0 ?? LoginRecord(device: device.text)).trying(key)
                    }
                    isKept = true
                }
                return try await send(request(assertion)).checkRegistered(user, device, pair.key)
            }
        } catch {
            if isKept, error.isRefusal { try await change(user) { $0?.forgetting(key) } }
            throw error
        }
    }

    /// Changes the record of the device that is being enabled.
    ///
    /// - Throws: `changedMeanwhile` where there is another in its place, or none and none is added: the login was disabled.
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

    /// One account on a device, unless it was asked otherwise; one that never came to be does not count.
    private func checkAccounts(beside user: LoginName) async throws(LoginError) {
        guard !options.allowsSeveralAccounts else { return }
        for other in try await users() where other != user {
            guard try await record(of: other)?.key == nil else { throw LoginError(.otherAccount(other)) }
        }
    }

    /// Once a login has come to be, those of others that never did are deleted.
    func makeRoom(for user: LoginName) async throws(LoginError) {
        guard !options.allowsSeveralAccounts else { return }
        for other in try await users() where other != user {
            if try await record(of: other)?.key == nil { try await delete(other) }
        }
    }

    /// What opens the new key; a finger must be enrolled, and the reader there.
    private func accessForNewKey() async throws(LoginError) -> AccessControl {
        let now = await owner.preflight()
        let access: AccessControl
        do { access = try options.access(withPasscode: now.isPasscodeSet) } catch {
            throw LoginError(.vault(error))
        }
        switch now.obstacle {
        case nil: break
        // Where fingers are locked the passcode lifts that at the prompt.
        case let obstacle? where obstacle.code == .biometryLockout && access.takesPasscode: break
        case let obstacle?: throw LoginError(.evaluation(obstacle))
        }
        return access
    }
}

extension LoginError {
    /// Whether the server does not have the key: it has refused, or nothing was signed for it after it had.
    fileprivate var isRefusal: Bool {
        switch code {
        case .unauthorized, .refused, .tooManyTries, .mustEnableAgain, .notReleased, .vault: true
        case .notEnabled, .otherAccount, .severalAccounts, .userUnusable, .deviceNameUnusable,
            .claimsRefused, .evaluation, .changedMeanwhile, .store, .keychain, .transport, .answerRefused,
            .serverFailed:
            false
        }
    }
}
