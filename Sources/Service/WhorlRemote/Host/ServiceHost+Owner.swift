// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService
import WhorlSupport

extension ServiceHost {
    func addOwner(_ router: inout GuardedRouter) {
        router.on(OwnerInterface.preflight) {
            (asked, call) async throws(ServiceRefusal) in
            let caller = await rules.caller(call.client)
            let preflight = try await owner(of: call)
                .preflight(asked.policy, for: caller.application(asked.application))
            return preflight.with(caller.fingerObstacle, asked.policy)
        }
        prompting(&router, OwnerInterface.evaluate) {
            (asking, services, call, presenter) async throws(ServiceRefusal) in
            guard asking.request.purpose.isForEvaluations else { throw .invalidParameter("purpose") }
            let request = request(asking, call)
            let evaluation = try await refusing(
                presenter,
                await services.owner.evaluate(request, presenter: presenter)
            )
            return (evaluation, Attachments())
        }
        router.on(OwnerInterface.isOptedOut) {
            (asked, call) async throws(ServiceRefusal) in
            let owner = try owner(of: call)
            let confinement = try await rules.confinement(of: call.client)
            return Valued(
                try await refusing(await owner.isOptedOut(confinement.application(asked.value)))
            )
        }
        prompting(&router, OwnerInterface.setOptedOut) {
            (asked, services, call, presenter) async throws(ServiceRefusal) in
            let confinement = try await rules.confinement(of: call.client)
            try await refusing(
                presenter,
                await services.owner.setOptedOut(
                    asked.isOptedOut,
                    for: confinement.application(asked.application),
                    request(asked.request),
                    presenter: presenter
                )
            )
            return (Valued(asked.isOptedOut), Attachments())
        }
        router.on(OwnerInterface.session) { (_, call) async throws(ServiceRefusal) in
            let place = await rules.caller(call.client).asker?.session
            let id = sessions.begin(for: call.client, in: place)
            defer { sessions.end(id) }
            call.update(Valued(id))
            // The connection is the session: hanging up cancels this task.
            _ = await OffPoolTimer.wait(.seconds(1 << 32))
            return Valued(id)
        }
    }

    private func owner(
        of call: ServiceCall
    ) throws(ServiceRefusal) -> any OwnerService {
        try services(call.client.user).owner
    }

    /// The request of a caller, with the session that it names, and a time limit that keeps the reader from no other.
    func request(_ asking: OwnerInterface.Asking, _ call: ServiceCall) -> EvaluationRequest {
        var request = asking.request
        request.timeout = min(request.timeout, promptRules.longestTimeout)
        request.session = session(asking.session, of: call, by: request.asker)
        request.stay = stay(of: request.asker)
        if request.reuse > .zero { stays.hold(for: min(request.reuse, .seconds(300))) }
        return request
    }

    /// The stay of a program in its login session; `nil` where the service does not look at programs.
    func stay(of asker: Asker?) -> String? { asker.map { stays.name(of: $0.session) } }

    /// The session that a caller names, in the login session of which it asks.
    func session(_ id: String?, of call: ServiceCall, by asker: Asker?) -> OwnerSession? {
        sessions.session(id, of: call.client, in: asker?.session)
    }

    /// The request of a caller for the owner's consent, with a time limit as above.
    func request(_ asked: ConsentRequest) -> ConsentRequest {
        var request = asked
        request.timeout = min(request.timeout, promptRules.longestTimeout)
        return request
    }
}
