// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlIPC
import WhorlService

extension ServiceHost {
    /// Adds the methods by which a login stores a verified password, and deletes one that has changed.
    func addPasswords(_ router: inout GuardedRouter, _ logins: LoginAccess) {
        router.on(LoginInterface.Keep.self) {
            (asked, call) async throws(ServiceRefusal) in
            let keyring = try keyring(of: asked.user, logins)
            let kept = await Result<_, ServiceError>(
                of: try await keyring.keep(asked.password, changedOn: asked.changedOn)
            ).mapError(\.refusal)
            // Most logins store nothing, which is not worth reporting.
            if case .success(false) = kept { return Valued(false) }
            let purpose = "keep the login password of user \(asked.user)"
            await record(kept, call, LoginInterface.Keep.name, purpose)
            return Valued(try kept.get())
        }
        router.on(LoginInterface.Forget.self) {
            (asked, call) async throws(ServiceRefusal) in
            let keyring = try keyring(of: asked.value, logins)
            let forgotten = await Result<_, ServiceError>(of: try await keyring.forget()).mapError(\.refusal)
            let purpose = "forget the login password of user \(asked.value)"
            await record(forgotten, call, LoginInterface.Forget.name, purpose)
            try forgotten.get()
            return NoValue()
        }
    }

    /// Returns the password to hand over after a matching touch.
    ///
    /// The login does not fail if there is no password.
    func password(
        _ asked: LoginInterface.Verify,
        _ caller: Caller,
        after login: EvaluationRequest,
        _ logins: LoginAccess
    ) async -> SecretBox? {
        // An existing session has its keyring open, or not: a touch for sudo hands nothing over. An account without
        // state has no password either.
        guard asked.keyring == true, caller.asker?.session == nil,
            let keyring = (try? logins.keyring(asked.user)) ?? nil
        else { return nil }
        let released = await Result<_, ServiceError>(
            of: try await keyring.release(after: login, changedOn: asked.passwordChangedOn)
        ).mapError(\.refusal)
        if case .failure = released {
            let purpose = CallPurpose(
                application: "login",
                text: "hand over the password of user \(asked.user)"
            )
            rules.record(CallRecord(LoginInterface.Verify.name, purpose, released), of: caller.asker)
        }
        return (try? released.get()) ?? nil  // the reason is in the record
    }

    private func keyring(
        of user: UInt32,
        _ logins: LoginAccess
    ) throws(ServiceRefusal) -> any LoginKeyring {
        let found = try refusing(logins.keyring(user))
        guard let keyring = found else { throw ServiceRefusal.invalidParameter("user") }
        return keyring
    }

    private func record<Value>(
        _ result: Result<Value, ServiceRefusal>,
        _ call: ServiceCall,
        _ method: String,
        _ purpose: String
    ) async {
        let caller = await rules.caller(call.client)
        rules.record(
            CallRecord(method, CallPurpose(application: "login", text: purpose), result),
            of: caller.asker
        )
    }
}
