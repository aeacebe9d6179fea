// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import WhorlIPC
import WhorlService

extension ServiceHost {
    func addPasscode(_ router: inout GuardedRouter) {
        asking(&router, PasscodeInterface.isSet, for: .unconfined) { (_, services) async throws(VaultError) in
            Valued(try await services.passcode.isSet())
        }
        prompting(&router, PasscodeInterface.askForFinger, for: .unconfined) {
            (asked, services, call, presenter) async throws(ServiceRefusal) in
            // Without a session of the caller the match is not kept, and a new one is asked for.
            let session = session(asked.session, of: call, by: asked.request.asker) ?? OwnerSession()
            try await refusing(presenter) { () async throws(AuthenticationError) in
                try await services.passcode.askForFinger(
                    request(asked.request),
                    in: session,
                    presenter: presenter
                )
            }
            return (NoValue(), Attachments())
        }
        router.on(PasscodeInterface.set, for: .unconfined) { (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let passcode = try call.secretBox(at: asked.passcode)
            // The match counts for the process and program that asked for it, in the same place.
            var request = asked.request.asked(by: try await callerOutsideLock(call))
            // Where a finger is enrolled, its touch is needed instead: the engine decides which it is.
            request.allowsFirst = { [rules] () async throws(AuthenticationError) in
                try await rules.authorize(.setPasscode, call.client, mayAsk: true)
            }
            let firstRequest = request
            let session = session(asked.session, of: call, by: request.asker) ?? OwnerSession()
            return try await refusing { () async throws(VaultError) in
                try await services.passcode.set(passcode, firstRequest, shown: session)
                return NoValue()
            }
        }
        onPasscode(&router, PasscodeInterface.change, for: .unconfined, \.old, \.new) {
            (secrets, passcode) async throws(VaultError) in
            try await passcode.change(secrets[0], to: secrets[1])
            return NoValue()
        }
        asking(&router, PasscodeInterface.itemsLostWithout, for: .unconfined) {
            (_, services) async throws(VaultError) in
            Valued(try await services.passcode.itemsLostWithout())
        }
        router.on(PasscodeInterface.remove, for: .unconfined) { (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let passcode = try call.secretBox(at: asked.passcode)
            _ = try await callerOutsideLock(call)
            return try await refusing { () async throws(VaultError) in
                Valued(try await services.passcode.remove(passcode, force: asked.force))
            }
        }
    }

    /// Adds a method that takes secrets, whose places the parameters name.
    private func onPasscode<Parameters, Reply, Failure: RemoteFailure>(
        _ router: inout GuardedRouter,
        _ method: ServiceMethod<Parameters, Reply>,
        for callers: AllowedCallers,
        _ places: (any KeyPath<Parameters, Int> & Sendable)...,
        body:
            @escaping @Sendable ([SecretBox], any PasscodeService) async throws(Failure) -> Reply
    ) {
        router.on(method, for: callers) { (parameters, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            _ = try await callerOutsideLock(call)
            var secrets: [SecretBox] = []
            for place in places { secrets.append(try call.secretBox(at: parameters[keyPath: place])) }
            return try await refusing { () async throws(Failure) in
                try await body(secrets, services.passcode)
            }
        }
    }
}
