// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlIPC
import WhorlService

extension ServiceHost {
    /// Adds the methods by which a login passes on a verified password, and reports a changed one.
    func addPasswords(_ router: inout GuardedRouter, _ logins: LoginAccess) {
        router.on(LoginInterface.Keep.self) {
            (asked, call) async throws(ServiceRefusal) in
            let keyring = try keyring(of: asked.user, logins)
            let typed = await Result<_, ServiceError>(
                of: try await keyring.typed(asked.password, changedOn: asked.changedOn) {
                    // A password for sudo in a session releases nothing, nor does one in an unknown place.
                    guard let asker = await rules.caller(call.client).asker else { return false }
                    return asker.processID != nil && asker.session == nil
                }
            ).mapError(\.refusal)
            let reply: LoginInterface.Kept
            let purpose: String
            switch typed {
            // Most logins store nothing, which is not worth reporting.
            case .success(.ignored): return .init(value: false)
            case .success(.released(let password)):
                // If no memory file can be created, the login continues without the keyring.
                reply = .init(value: false, keyringPassword: password.inRoom)
                purpose = "release the keyring password of user \(asked.user)"
            case .success(.sealed), .failure:
                reply = .init(value: true)
                purpose = "keep the login password of user \(asked.user)"
            }
            await record(typed, call, LoginInterface.Keep.name, purpose)
            if case .failure(let refusal) = typed { throw refusal }
            return reply
        }
        router.on(LoginInterface.PasswordChanged.self) {
            (asked, call) async throws(ServiceRefusal) in
            let keyring = try keyring(of: asked.user, logins)
            let changed = await Result<_, ServiceError>(
                of: try await keyring.changed(from: asked.old, to: asked.new)
            ).mapError(\.refusal)
            let purpose = "adopt the changed login password of user \(asked.user)"
            await record(changed, call, LoginInterface.PasswordChanged.name, purpose)
            try changed.get()
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
    ) async -> KeyringKey? {
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

extension SecretBox {
    /// The secret, or `nil` if no memory file can be created for it.
    var inRoom: SecretBox? { (try? SecretDescriptor.make(bytes)) == nil ? nil : self }
}
