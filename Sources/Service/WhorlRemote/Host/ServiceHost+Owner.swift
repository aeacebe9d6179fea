// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService
import WhorlSupport

extension ServiceHost {
    func addOwner(_ router: inout GuardedRouter) {
        router.on(PreflightPolicy.self) { (asked, call) async throws(ServiceRefusal) in
            let caller = await rules.caller(call.client)
            let preflight = await (try services(call.client.user))
                .preflight(asked.policy, for: caller.application(asked.application))
            return preflight.with(caller.fingerObstacle, asked.policy)
        }
        prompting(&router, EvaluatePolicy.self) { (asked, _, _, _) async throws(ServiceRefusal) in
            guard asked.request.purpose.isForEvaluations else { throw .invalidParameter("purpose") }
            return asked
        }
        router.on(BeginSession.self) { (_, call) async throws(ServiceRefusal) in
            let place = await rules.caller(call.client).asker?.session
            let id = sessions.begin(for: call.client, in: place)
            defer { sessions.end(id) }
            call.update(Valued(id))
            // The connection is the session: if the caller hangs up, this task is cancelled.
            _ = await OffPoolTimer.wait(.seconds(1 << 32))
            return Valued(id)
        }
        router.on(SetPasscode.self) { (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            var set = asked
            // The match counts only for the process and program that requested it, in the same place.
            set.request = asked.request.asked(by: try await callerOutsideLock(call))
            // If a finger is enrolled, its touch is required instead: the engine decides which case applies.
            set.request.allowsFirst = { [rules] () async throws(ServiceError) in
                try await rules.authorize(.setPasscode, call.client, mayAsk: true)
            }
            // Without a session of the caller, no match can count.
            set.session = session(asked.sessionID, of: call, by: set.request.asker) ?? OwnerSession()
            let passcode = set
            try await refusing(await services.ask(passcode))
            return NoValue()
        }
    }
}

extension IsOptedOut: ConfinedOperation {
    func within(_ names: NameSpace) throws(ServiceError) -> IsOptedOut {
        IsOptedOut(names.confinement.application(application))
    }
}

extension SetOptedOut: ConfinedOperation {
    func within(_ names: NameSpace) throws(ServiceError) -> SetOptedOut {
        SetOptedOut(isOptedOut, for: names.confinement.application(application), request)
    }
}
