// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlIPC
import WhorlService
import WhorlSupport

extension ServiceHost {
    /// Adds the methods that verify logins, if the service has accounts to log in to.
    func addLogin(_ router: inout GuardedRouter) {
        guard let logins else { return }
        addTakeOver(&router, logins)
        addUnlock(&router, logins)
        addPasswords(&router, logins)
        addAccounts(&router, logins)
        addScreenUnlock(&router, logins)
        router.onPrompting(LoginInterface.Identify.self) { (asked, call) async throws(ServiceRefusal) in
            try await answer(asked, call) { (identify, presenter) async throws(ServiceRefusal) in
                var request = identify.request
                // It recognizes the user, and unlocks nothing.
                request.purpose = .yes
                let limited = request
                return try await refusing(
                    presenter,
                    await logins.identify(identify.users, limited, presenter)
                )
            }
        }
        router.on(LoginInterface.Verify.self) { (asked, call) async throws(ServiceRefusal) in
            try await refuseAtOnce(asked, call, logins)
            let (caller, agent) = await caller(asked, call)
            let login = request(asked, caller, logins)
            let answer = await verify(asked, call, caller, logins, login, agent)
            let refusal = answer.mapError { ServiceRefusal(LoginRefused.name, failure: $0) }
            rules.record(CallRecord(LoginInterface.Verify.name, asked.purpose, refusal), of: caller.asker)
            try refusal.get()
            // If no memory file can be created, the login continues without the keyring.
            return switch await password(asked, caller, after: login, logins) {
            case .loginPassword(let password)?: .init(matched: true, password: password.inRoom)
            case .ownPassword(let password)?: .init(matched: true, keyringPassword: password.inRoom)
            case nil: .init(matched: true)
            }
        }
    }

    /// Refuses the login of a user without a finger, before querying the login manager for the caller's place.
    ///
    /// This is the case for most logins on a machine without a reader.
    private func refuseAtOnce(
        _ asked: LoginInterface.Verify,
        _ call: ServiceCall,
        _ logins: LoginAccess
    ) async throws(ServiceRefusal) {
        guard let obstacle = await logins.obstacle(asked.user) else { return }
        let refusal = ServiceRefusal(LoginRefused.name, failure: LoginRefused(obstacle))
        let record = CallRecord(LoginInterface.Verify.name, asked.purpose, Result<Void, _>.failure(refusal))
        rules.record(record, of: await rules.asker(call.client))
        throw refusal
    }

    /// Returns the caller, and the process of polkit's agent if the caller makes the request for the agent's user.
    ///
    /// If anything about the passed process is uncertain, the process is ignored. The caller then has its own place,
    /// which polkit's helper does not have.
    private func caller(
        _ asked: LoginInterface.Verify,
        _ call: ServiceCall
    ) async -> (caller: Caller, agent: PeerProcess?) {
        if asked.service == "polkit-1", let place = asked.agent, let agent = call.process(at: place),
            let caller = await rules.caller(call.client, askingFor: agent)
        {
            return (caller, agent)
        }
        return (await rules.caller(call.client), nil)
    }

    private func verify(
        _ asked: LoginInterface.Verify,
        _ call: ServiceCall,
        _ caller: Caller,
        _ logins: LoginAccess,
        _ request: EvaluationRequest,
        _ agent: PeerProcess?
    ) async -> Result<Void, LoginRefused> {
        guard !asked.isRemote(caller) else { return .failure(LoginRefused(.remoteLogin, .remote)) }
        guard !asked.isForElsewhere(caller) else { return .failure(LoginRefused(.unknownPlace, .noSession)) }
        do throws(ServiceError) {
            let owner = try logins.owner(asked.user)
            let session = asked.isLocker ? nil : caller.asker?.session
            // A login does not wait for a program of the user.
            screenUnlocks.endAll(because: .loginAtReader)
            let evaluation = try await evaluate(
                request,
                by: owner,
                LoginPresenter(call: call),
                asOneOf: running,
                in: session
            )
            guard evaluation.isNewTouch else { return .failure(.notATouch) }
            // The helper hangs up when its agent does, but does not notice if the agent has given its socket away.
            guard agent?.isRunning != false else { return .failure(LoginRefused(.polkitAgentEnded)) }
            // A count that cannot be cleared does not stop a login whose touch has matched.
            try? await request.place?.clear()
            return .success(())
        } catch {
            return .failure(LoginRefused(error))
        }
    }

    private func request(
        _ asked: LoginInterface.Verify,
        _ caller: Caller,
        _ logins: LoginAccess
    ) -> EvaluationRequest {
        let application = asked.purpose.application
        var request = touchRequest(
            asked.isLocker ? .unlockScreen(application) : .logIn(application),
            as: asked.purpose,
            milliseconds: asked.timeoutMilliseconds,
            mostTries: asked.mostTries,
            caller
        )
        // The match is kept for the password that the login may receive after it.
        request.session = OwnerSession()
        // Outside any session, anyone at the machine can name any user; in a session, the user is the session's.
        if caller.asker?.session == nil { request.place = logins.place }
        // In a locked session, only the program that unlocks it may prompt.
        request.obstacle = asked.isLocker ? nil : caller.obstacle
        return request
    }
}

extension ServiceError {
    /// The end of a screen locker's prompt when a login needs the reader.
    fileprivate static let loginAtReader = ServiceError(
        .systemCancel,
        message: "A login needs the fingerprint reader.",
        recovery: "Use the password, or try again."
    )

    fileprivate static let remoteLogin = ServiceError(
        .notInteractive,
        message: "This is a remote login; the fingerprint reader is at this computer.",
        recovery: "Use the password."
    )

    fileprivate static let polkitAgentEnded = ServiceError(
        .systemCancel,
        message: "polkit's agent exited before the touch.",
        recovery: "Ask again."
    )

    fileprivate static let unknownPlace = ServiceError(
        .notInteractive,
        message: "The service cannot tell where the login comes from.",
        recovery: "Use the password."
    )
}
