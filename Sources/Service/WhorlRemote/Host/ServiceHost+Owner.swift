// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC
import WhorlService
import WhorlSupport

extension ServiceHost {
    func addOwner(_ router: inout GuardedRouter) {
        router.on(OwnerInterface.preflight, for: .anyProgram) {
            (asked, call) async throws(ServiceRefusal) in
            let caller = await rules.caller(call.client)
            let preflight = try await owner(of: call)
                .preflight(asked.policy, for: caller.application(asked.application))
            return preflight.with(caller.fingerObstacle, asked.policy)
        }
        prompting(&router, OwnerInterface.evaluate, for: .anyProgram) {
            (asking, services, call, presenter) async throws(ServiceRefusal) in
            let request = request(asking, call)
            let evaluation = try await refusing(presenter) { () async throws(AuthenticationError) in
                try await services.owner.evaluate(request, presenter: presenter)
            }
            return (evaluation, Attachments())
        }
        router.on(OwnerInterface.isOptedOut, for: .anyProgram) {
            (asked, call) async throws(ServiceRefusal) in
            let owner = try owner(of: call)
            let confinement = try rules.confinement(of: call.client)
            return Valued(
                try await refusing { () async throws(AuthenticationError) in
                    try await owner.isOptedOut(confinement.application(asked.value))
                }
            )
        }
        router.on(OwnerInterface.setOptedOut, for: .anyProgram) {
            (asked, call) async throws(ServiceRefusal) in
            let owner = try owner(of: call)
            let confinement = try rules.confinement(of: call.client)
            try await refusing { () async throws(AuthenticationError) in
                try await owner.setOptedOut(
                    asked.isOptedOut,
                    for: confinement.application(asked.application)
                )
            }
            return Valued(asked.isOptedOut)
        }
        router.on(OwnerInterface.session, for: .anyProgram) { (_, call) async throws(ServiceRefusal) in
            let id = sessions.begin(for: call.client.user)
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
        request.session = sessions.session(asking.session, of: call.client.user)
        return request
    }

    /// The request of a caller for the owner's consent, with a time limit as above.
    func request(_ asked: ConsentRequest) -> ConsentRequest {
        var request = asked
        request.timeout = min(request.timeout, promptRules.longestTimeout)
        return request
    }
}

/// The sessions of all users, each as long as the connection that began it.
final class SessionBoard: Sendable {
    private struct Place {
        let uid: UInt32
        let session: OwnerSession
    }

    private let places = Mutex<[String: Place]>([:])

    /// Begins a session.
    ///
    /// - Returns: Its id: 128 random bits, which only the caller learns.
    func begin(for user: PeerUser) -> String {
        let id = randomID()
        places.withLock { $0[id] = Place(uid: user.uid, session: OwnerSession()) }
        return id
    }

    /// Ends a session; what was shown in it is forgotten.
    func end(_ id: String) {
        let place = places.withLock { $0.removeValue(forKey: id) }
        place?.session.forget()
    }

    /// Returns a session of the user; `nil` for an id that is unknown or another user's.
    func session(_ id: String?, of user: PeerUser) -> OwnerSession? {
        guard let id, let place = places.withLock({ $0[id] }), place.uid == user.uid else { return nil }
        return place.session
    }
}

/// Makes an id of 128 random bits, in hexadecimal.
func randomID() -> String {
    var generator = SystemRandomNumberGenerator()
    return [generator.next(), generator.next()].map { (half: UInt64) in
        let digits = String(half, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
}
