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
    ///   - deviceName: What the server shows of this device, for people.
    ///   - reason: Why the owner is asked.
    /// - Returns: The login as it is enabled.
    /// - Throws: `otherAccount`; `evaluation` where the owner was not recognised, and then nothing was changed;
    ///   `unauthorized` and other refusals, and then the former key is as it was; `transport`, `serverFailed` and
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
        let authorization = try credential.authorization(of: user)
        try await makeRoom(for: user)
        let access = try await accessForNewKey()
        let before = try await record(of: user)
        var record = before ?? LoginRecord()
        guard let device = LoginName(record.device) else { throw LoginError(.keychain(errSecInvalidRecord)) }

        let challenge = try await challenge(.enable, for: user, on: device)
        let item = try await owner.makeKey(access)
        let reason = self.reason(reason, for: user)
        let recognition = try await owner.recognise(for: access, reason)
        record.pending = LoginRecord.Key(
            item: item.encoded,
            fingers: recognition.evaluation.domainState,
            name: deviceName,
            enabledAt: nil
        )
        guard let key = record.pending, let pair = owner.pair(key) else { throw LoginError(.notReleased) }
        let assertion = try await assertion(
            .enable,
            of: user,
            on: device,
            challenge,
            with: pair,
            recognition,
            reason
        )

        // Before it is sent: whatever happens from here on, the key that the server may have is known here.
        try await keep(record, of: user)
        var known = key
        do throws(LoginError) {
            let request = LoginRequest.enable(
                assertion,
                key: pair.key,
                name: deviceName,
                authorization: authorization,
                to: server
            )
            known.enabledAt = try await send(request).checkRegistered(user, device, pair.key)
        } catch {
            if error.isRefusal { try await keep(before, of: user) }
            throw error
        }
        try await keep(record.knowing(known), of: user)
        guard let pair = owner.pair(known), let login = EnabledLogin(user, record.device, pair) else {
            throw LoginError(.notReleased)
        }
        return (login, recognition)
    }

    /// One account on a device, unless it was asked otherwise; another's login that never came to be makes room.
    private func makeRoom(for user: LoginName) async throws(LoginError) {
        guard !options.allowsSeveralAccounts else { return }
        for other in try await users() where other != user {
            guard try await record(of: other)?.key == nil else { throw LoginError(.otherAccount(other)) }
            try await keep(nil, of: other)
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
    /// Whether the server has answered that it did nothing.
    fileprivate var isRefusal: Bool {
        switch code {
        case .unauthorized, .refused, .tooManyTries, .mustEnableAgain: true
        case .notEnabled, .otherAccount, .severalAccounts, .userUnusable, .claimsRefused, .evaluation,
            .notReleased, .vault, .store, .keychain, .transport, .answerRefused, .serverFailed:
            false
        }
    }
}
