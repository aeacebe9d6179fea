// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

extension ServiceHost {
    /// Adds the methods for SSH keys, which an agent also calls on behalf of its clients.
    func addSSH(_ router: inout GuardedRouter) {
        router.on(AddSSHKey.self) { (asked, call) async throws(ServiceRefusal) in
            try await refuseConfined(AddSSHKey.self, call)
            let services = try services(call.client.user)
            let own = AddSSHKey(
                try await refusing(services.own(asked.id)),
                access: asked.access,
                allowsUnknownData: asked.allowsUnknownData,
                reuseSeconds: asked.reuseSeconds
            )
            return try await refusing(await services.ask(own))
        }
        router.on(ReadSSHKeyRules.self) { (asked, call) async throws(ServiceRefusal) in
            try await refuseConfined(ReadSSHKeyRules.self, call)
            let services = try services(call.client.user)
            let own = ReadSSHKeyRules(of: try await refusing(services.own(asked.id)))
            return try await refusing(await services.ask(own))
        }
        prompting(&router, PinSSHKey.self) { (asked, services, call, _) async throws(ServiceRefusal) in
            try await refuseConfined(PinSSHKey.self, call)
            sessions.forget(try await refusing(services.own(asked.id)))
            return PinSSHKey(try await refusing(services.own(asked.id)), to: asked.pins, asked.request)
        }
        router.onPrompting(SignForSSH.self) { (asked, call) async throws(ServiceRefusal) in
            try await refuseConfined(SignForSSH.self, call)
            let services = try services(call.client.user)
            let caller = await requester(asked.call, call)
            return try await answer(asked, call, by: caller) {
                (sign, presenter) async throws(ServiceRefusal) in
                var own = SignForSSH(
                    try await refusing(services.own(sign.id)),
                    data: sign.data,
                    binds: sign.binds,
                    hosts: sign.hosts,
                    sign.request
                )
                own.session = {
                    [sessions, client = call.client, id = own.id, place = caller.asker?.session] key in
                    sessions.session(for: SSHKeyName(id, publicKey: key), of: client, in: place)
                }
                return try await refusing(
                    presenter,
                    await services.ask(own, presenter: presenter) { presenter.report($0) }
                )
            }
        }
    }

    /// Returns the caller, or the agent's client, with the restrictions of both.
    private func requester(_ asked: SignForSSH, _ call: ServiceCall) async -> Caller {
        let agent = await rules.caller(call.client)
        guard let place = asked.client else { return agent }
        return await rules.caller(call.client, relaying: call.process(at: place)).restricted(like: agent)
    }
}

extension Services {
    /// Returns the ID of a key in the caller's profile, whichever profile the message names.
    fileprivate func own(_ id: ItemID) throws(ServiceError) -> ItemID {
        try NameSpace(profile: profile, confinement: .none).stored(id)
    }
}

extension Caller {
    /// Returns the caller, with the restrictions of another one as well.
    fileprivate func restricted(like other: Caller) -> Caller {
        var caller = self
        caller.fingerObstacle = fingerObstacle ?? other.fingerObstacle
        caller.seatObstacle = seatObstacle ?? other.seatObstacle
        caller.obstacle = obstacle ?? other.obstacle
        return caller
    }
}
