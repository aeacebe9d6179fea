// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import Foundation

/// The actions of a customer. A touch shows the balance; a touch and the password transfer money.
actor Teller {
    let login: LoginClient
    let bank: BankService
    /// The session of the last touch.
    ///
    /// It is only in memory and expires after some minutes.
    private var session: LoginSession?

    init(login: LoginClient, bank: BankService) {
        self.login = login
        self.bank = bank
    }

    /// Returns the state of the login on this device, without prompting or contacting the server.
    func status() async throws -> String {
        switch try await login.status() {
        case .notEnabled: "Not enabled. Type: enable"
        case .unfinished(let login): "Not finished for \(login.user). Type: enable"
        case .enabled(let login): "A touch signs in \(login.user)."
        case .mustEnableAgain(let reason): Teller.words(for: LoginError(.mustEnableAgain(reason)))
        }
    }

    /// Enables the login on this device, which takes the user name, the password, and a touch.
    func enable() async throws -> String {
        guard let user = typed("User: ").flatMap({ LoginName($0) }), let password = typedPassword() else {
            return "Nothing was done."
        }
        session = nil
        try await login.enable(
            user,
            with: .password(password),
            deviceName: ProcessInfo.processInfo.hostName,
            reason: "have a touch sign in \(user)"
        )
        return "From now on a touch signs in \(user)."
    }

    /// Returns the balance.
    ///
    /// Requires a touch unless the last session is still valid.
    func balance() async throws -> Money {
        do {
            return try await bank.balance(signedIn("see your balance"))
        } catch let refusal as BankService.Refusal where refusal.code == .signedOut {
            session = nil
            throw refusal
        }
    }

    /// Transfers money.
    ///
    /// Always requires a touch and the password.
    ///
    /// The prompt shows the transfer, and the TPM's signature covers it. The login server includes it in the token, and
    /// the bank compares it with the order. The token is valid only for this transfer, and is not stored.
    func transfer(_ amount: Money, to payee: String) async throws -> Money {
        let stepUp = try await login.attempt(
            reason: "transfer \(amount) to \(payee)",
            claims: ["amount": String(amount.cents), "payee": payee],
            password: typedPassword(),
            service: BankService.name
        )
        return try await bank.transfer(amount, to: payee, stepUp)
    }

    /// Ends the session.
    ///
    /// The next request requires a touch.
    func signOut() -> String {
        session = nil
        return "Signed out."
    }

    /// Deletes the key on this device.
    ///
    /// If the user can prove who they are, the server also removes the device.
    func disable() async throws -> String {
        // Users who can no longer sign in can still disable the login. The session for the bank must not be used here:
        // the bank knows its token, and must not be able to remove devices.
        let known = try? await login.attempt(
            reason: "take the login off this device",
            service: login.server.credentialsService
        )
        session = nil
        return switch try await login.disable(telling: known.map { .session($0.token) }) {
        case .wasNotEnabled: "It was not enabled."
        case .everywhere: "Disabled."
        case .here, .hereOnly: "Disabled here. The server still lists this device: remove it in your account."
        }
    }

    private func signedIn(_ reason: String) async throws -> LoginSession {
        if let session, session.expiresAt.timeIntervalSinceNow > 10 { return session }
        let new = try await login.attempt(reason: reason, service: BankService.name)
        session = new
        return new
    }

    /// Returns what to do about an error, in terms of this program's commands if possible.
    static func words(for error: LoginError) -> String {
        switch error.code {
        case .notEnabled: "This device is not enabled. Type: enable"
        // The key cannot sign in. Only the password proves that this is still the customer, so it is required again.
        case .mustEnableAgain: "\(error.message) Type: enable"
        default: "\(error.message) \(error.recovery)"
        }
    }
}
