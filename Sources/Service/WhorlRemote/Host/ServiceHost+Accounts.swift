// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
package import WhorlService

/// The accounts whose state a service of the whole system keeps, for root.
package protocol AccountKeeper: Sendable {
    /// Returns what is known of the state of each account.
    func accounts() async throws(ServiceError) -> [AccountOfFolder]

    /// Removes everything of an account that is gone.
    func remove(_ number: UInt32) async throws(ServiceError)

    /// Confirms that the account with a number is the one whose state it is, as after a change of its name.
    func confirm(_ number: UInt32) async throws(ServiceError)
}

extension ServiceHost {
    /// Adds the calls with which root looks after accounts that were renamed or deleted.
    func addAccounts(_ router: inout GuardedRouter, _ logins: LoginAccess) {
        let keeper = logins.accounts
        router.on(LoginInterface.accounts) { (_, _) async throws(ServiceRefusal) in
            Valued(try await refusing(await keeper?.accounts() ?? []))
        }
        router.on(LoginInterface.removeAccount) {
            (number, call) async throws(ServiceRefusal) in
            guard let keeper else { throw ServiceRefusal.invalidParameter("value") }
            let outcome = await Result<_, ServiceError>(of: try await keeper.remove(number.value))
            let text = "remove the state of user \(number.value)"
            return try await record(outcome, call, LoginInterface.removeAccount.name, text)
        }
        router.on(LoginInterface.confirmAccount) {
            (number, call) async throws(ServiceRefusal) in
            guard let keeper else { throw ServiceRefusal.invalidParameter("value") }
            let outcome = await Result<_, ServiceError>(of: try await keeper.confirm(number.value))
            let text = "confirm user \(number.value)"
            return try await record(outcome, call, LoginInterface.confirmAccount.name, text)
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
            of: caller
        )
        try outcome.get()
        return NoValue()
    }
}
