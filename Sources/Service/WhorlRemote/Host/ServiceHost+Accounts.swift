// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
package import WhorlService

/// Manages the accounts whose state a system-wide service stores, on behalf of root.
package protocol AccountKeeper: Sendable {
    /// Returns information about the state of each account.
    func accounts() async throws(ServiceError) -> [StoredAccount]

    /// Removes all data of an account; one that exists must be named as `existing`.
    func remove(_ number: UInt32, existing: Bool) async throws(ServiceError)

    /// Confirms that the state belongs to the account that now has the user ID, for example after its name changed.
    func confirm(_ number: UInt32) async throws(ServiceError)
}

extension ServiceHost {
    /// Adds the methods by which root manages accounts that were renamed or deleted.
    func addAccounts(_ router: inout GuardedRouter, _ logins: LoginAccess) {
        let keeper = logins.accounts
        router.on(LoginInterface.ListAccounts.self) { (_, _) async throws(ServiceRefusal) in
            Valued(try await refusing(await keeper?.accounts() ?? []))
        }
        router.on(LoginInterface.RemoveAccount.self) {
            (number, call) async throws(ServiceRefusal) in
            guard let keeper else { throw ServiceRefusal.invalidParameter("value") }
            let outcome = await Result<_, ServiceError>(
                of: try await keeper.remove(number.value, existing: number.existing ?? false)
            )
            let text = "remove the state of user \(number.value)"
            return try await record(outcome, call, LoginInterface.RemoveAccount.name, text)
        }
        router.on(LoginInterface.ConfirmAccount.self) {
            (number, call) async throws(ServiceRefusal) in
            guard let keeper else { throw ServiceRefusal.invalidParameter("value") }
            let outcome = await Result<_, ServiceError>(of: try await keeper.confirm(number.value))
            let text = "confirm user \(number.value)"
            return try await record(outcome, call, LoginInterface.ConfirmAccount.name, text)
        }
    }

    private func record(
        _ outcome: Result<Void, ServiceError>,
        _ call: ServiceCall,
        _ method: String,
        _ text: String
    ) async throws(ServiceRefusal) -> NoValue {
        let caller = await rules.caller(call.client)
        let outcome = outcome.mapError(\.refusal)
        rules.record(
            CallRecord(method, CallPurpose(application: "whorl account", text: text), outcome),
            of: caller.asker
        )
        try outcome.get()
        return NoValue()
    }
}

extension ServiceHost {
    /// Adds the method by which an operator ends the lockout of a user's fingers, if the system's rules allow it.
    func addUnlock(_ router: inout GuardedRouter, _ logins: LoginAccess) {
        router.on(LoginInterface.Unlock.self) { (user, call) async throws(ServiceRefusal) in
            let caller = await rules.caller(call.client)
            let outcome = await Result<_, ServiceRefusal>(
                of: try await unlock(user.value, logins, call, by: caller.asker)
            )
            let purpose = CallPurpose(
                application: "unlock",
                text: "unlock the fingers of user \(user.value), and the logins at this machine"
            )
            rules.record(CallRecord(LoginInterface.Unlock.name, purpose, outcome), of: caller.asker)
            return Valued(try outcome.get())
        }
    }

    private func unlock(
        _ user: UInt32,
        _ logins: LoginAccess,
        _ call: ServiceCall,
        by asker: Asker?
    ) async throws(ServiceRefusal) -> Bool {
        try await authorize(.unlock, call)
        let wasLocked = try await refusing(await logins.unlock(user, asker))
        // If this fails, the waiting time ends by itself.
        try? await logins.place?.clear()
        return wasLocked
    }
}
