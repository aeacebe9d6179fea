// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
package import WhorlService

/// The accounts whose state a service of the whole system keeps, for root.
package protocol AccountKeeper: Sendable {
    /// Returns what is known of the state of each account.
    func accounts() async throws(StateError) -> [AccountOfFolder]

    /// Removes everything of an account that is gone.
    func remove(_ number: UInt32) async throws(StateError)

    /// Confirms that the account with a number is the one whose state it is, as after a change of its name.
    func confirm(_ number: UInt32) async throws(StateError)
}

extension ServiceHost {
    /// Adds the calls with which root looks after accounts that were renamed or deleted.
    func addAccounts(_ router: inout GuardedRouter, _ logins: LoginAccess) {
        let keeper = logins.accounts
        router.on(LoginInterface.accounts, for: .user(logins.asker)) { (_, _) async throws(ServiceRefusal) in
            Valued(try await refusing { () async throws(StateError) in try await keeper?.accounts() ?? [] })
        }
        router.on(LoginInterface.removeAccount, for: .user(logins.asker)) {
            (number, call) async throws(ServiceRefusal) in
            guard let keeper else { throw ServiceRefusal.invalidParameter("value") }
            return try await change(
                call,
                LoginInterface.removeAccount,
                "remove the state of user \(number.value)"
            ) {
                () async throws(StateError) in try await keeper.remove(number.value)
            }
        }
        router.on(LoginInterface.confirmAccount, for: .user(logins.asker)) {
            (number, call) async throws(ServiceRefusal) in
            guard let keeper else { throw ServiceRefusal.invalidParameter("value") }
            return try await change(call, LoginInterface.confirmAccount, "confirm user \(number.value)") {
                () async throws(StateError) in try await keeper.confirm(number.value)
            }
        }
    }

    private func change(
        _ call: ServiceCall,
        _ method: ServiceMethod<Valued<UInt32>, NoValue>,
        _ text: String,
        _ body: () async throws(StateError) -> Void
    ) async throws(ServiceRefusal) -> NoValue {
        let caller = await rules.caller(call.client)
        let outcome = await Result(body).mapError(\.refusal)
        let purpose = CallPurpose(application: "whorl account", text: text)
        rules.record(CallRecord(method.name, purpose, outcome), of: caller)
        try outcome.get()
        return NoValue()
    }
}
