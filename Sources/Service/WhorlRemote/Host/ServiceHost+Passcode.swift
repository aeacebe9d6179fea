// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlIPC
import WhorlService

extension ServiceHost {
    func addPasscode(_ router: inout GuardedRouter) {
        asking(&router, PasscodeInterface.isSet) {
            (_, services) async throws(ServiceError) in
            Valued(try await services.passcode.isSet())
        }
        prompting(&router, PasscodeInterface.askForFinger) {
            (asked, services, call, presenter) async throws(ServiceRefusal) in
            // Without a session of the caller the match is not kept, and a new one is asked for.
            let session = session(asked.session, of: call, by: asked.request.asker) ?? OwnerSession()
            try await refusing(
                presenter,
                await services.passcode.askForFinger(
                    request(asked.request),
                    in: session,
                    presenter: presenter
                )
            )
            return (NoValue(), Attachments())
        }
        router.on(PasscodeInterface.set) { (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let passcode = try call.secretBox(at: asked.passcode)
            // The match counts for the process and program that asked for it, in the same place.
            var request = asked.request.asked(by: try await callerOutsideLock(call))
            // Where a finger is enrolled, its touch is needed instead: the engine decides which it is.
            request.allowsFirst = { [rules] () async throws(ServiceError) in
                try await rules.authorize(.setPasscode, call.client, mayAsk: true)
            }
            let firstRequest = request
            let session = session(asked.session, of: call, by: request.asker) ?? OwnerSession()
            try await refusing(await services.passcode.set(passcode, firstRequest, shown: session))
            return NoValue()
        }
        prompting(&router, PasscodeInterface.change) {
            (asked, services, call, presenter) async throws(ServiceRefusal) in
            let new = try call.secretBox(at: asked.new)
            try await refusing(
                presenter,
                await services.passcode.change(to: new, request(asked.request), presenter: presenter)
            )
            return (NoValue(), Attachments())
        }
        asking(&router, PasscodeInterface.itemsLostWithout) {
            (_, services) async throws(ServiceError) in
            Valued(try await services.passcode.itemsLostWithout())
        }
        prompting(&router, PasscodeInterface.remove) {
            (asked, services, _, presenter) async throws(ServiceRefusal) in
            let deleted = try await refusing(
                presenter,
                await services.passcode.remove(
                    force: asked.force,
                    request(asked.request),
                    presenter: presenter
                )
            )
            return (deleted, Attachments())
        }
    }
}
