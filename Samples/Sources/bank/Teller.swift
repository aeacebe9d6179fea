// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import Foundation

/// What a customer does: looks with a touch, moves money with a touch and the password.
actor Teller {
    let login: LoginClient
    let bank: BankService
    /// The last touch's session, kept in memory alone; it ends by itself after some minutes.
    private var session: LoginSession?

    init(login: LoginClient, bank: BankService) {
        self.login = login
        self.bank = bank
    }

    /// How the login stands here; nobody is asked, and no server either.
    func status() async throws -> String {
        switch try await login.status() {
        case .notEnabled: "Not enabled. Type: enable"
        case .unfinished(let login): "Not finished for \(login.user). Type: enable"
        case .enabled(let login): "A touch signs in \(login.user)."
        case .mustEnableAgain(let reason): Teller.words(for: LoginError(.mustEnableAgain(reason)))
        }
    }

    /// Once on each device: the name, the password, and a touch.
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

    /// A touch; none while the last one's session lasts.
    func balance() async throws -> Money {
        do {
            return try await bank.balance(signedIn("see your balance"))
        } catch let refusal as BankService.Refusal where refusal.code == .signedOut {
            session = nil
            throw refusal
        }
    }

    /// A touch and the password, whatever session there is.
    ///
    /// The prompt says what is transferred, and the chip signs it with the rest: the login server hands it on in the token, and
    /// the bank compares. That token serves for this one transfer, and is not kept here.
    func transfer(_ amount: Money, to payee: String) async throws -> Money {
        let stepUp = try await login.attempt(
            reason: "transfer \(amount) to \(payee)",
            claims: ["amount": String(amount.cents), "payee": payee],
            password: typedPassword(),
            service: BankService.name
        )
        return try await bank.transfer(amount, to: payee, stepUp)
    }

    /// Ends the session; the next look takes a touch.
    func signOut() -> String {
        session = nil
        return "Signed out."
    }

    /// Deletes the key here, and has the server forget the device where it can be shown whose it is.
    func disable() async throws -> String {
        // Who cannot sign in any more can still disable.
        // The bank's own session would not do: the bank has its token, and must not be able to.
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

    /// What to do about an error, in this program's own terms where it has some.
    static func words(for error: LoginError) -> String {
        switch error.code {
        case .notEnabled: "This device is not enabled. Type: enable"
        // The key cannot sign in. Only the password shows that it is still the customer, so it is asked for again.
        case .mustEnableAgain: "\(error.message) Type: enable"
        default: "\(error.message) \(error.recovery)"
        }
    }
}
