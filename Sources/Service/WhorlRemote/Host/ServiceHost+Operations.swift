// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

/// An operation that confined programs may also use, limited to the data that belongs to them.
///
/// Confined programs cannot use any other operation, regardless of its rules.
protocol ConfinedOperation: ServiceOperation {
    /// Returns the operation, limited to the requesting program's data.
    func within(_ names: NameSpace) throws(ServiceError) -> Self

    /// Returns the reply, without other programs' data.
    static func shown(_ reply: Reply, within names: NameSpace) -> Reply
}

extension ConfinedOperation {
    static func shown(_ reply: Reply, within _: NameSpace) -> Reply { reply }
}

/// An operation that is the same for every program, because it does not name data that belongs to a program.
protocol ProgramIndependent: ServiceOperation {}

extension ServiceHost {
    /// Adds an operation that the connected user's services handle.
    func add(_ operation: any ServiceOperation.Type, _ router: inout GuardedRouter) {
        // Only a few conformances are looked up, because each lookup is slow in a large program, and the service starts
        // on demand.
        let isForConfined = operation.rules.callers == .anyProgram
        if operation.asksOwner {
            if isForConfined, let operation = operation as? any (OwnerOperation & ConfinedOperation).Type {
                promptingWithin(&router, operation)
            } else if let operation = operation as? any OwnerOperation.Type {
                promptingUnconfined(&router, operation)
            }
        } else if isForConfined, let operation = operation as? any ConfinedOperation.Type {
            asking(&router, operation)
        } else {
            askingUnconfined(&router, operation)
        }
    }

    /// Adds a method that limits a confined program to its own data.
    private func asking<Asked: ConfinedOperation>(_ router: inout GuardedRouter, _ operation: Asked.Type) {
        router.on(operation) { (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let names = try await names(services, call)
            let own = try await refusing(asked.within(names))
            return Asked.shown(try await refusing(await services.ask(own)), within: names)
        }
    }

    private func askingUnconfined<Asked: ServiceOperation>(
        _ router: inout GuardedRouter,
        _ operation: Asked.Type
    ) {
        router.on(operation) { (asked, call) async throws(ServiceRefusal) in
            try await refuseConfined(operation, call)
            let services = try services(call.client.user)
            return try await refusing(await services.ask(asked))
        }
    }

    private func promptingWithin<Asked: OwnerOperation & ConfinedOperation>(
        _ router: inout GuardedRouter,
        _ operation: Asked.Type
    ) {
        prompting(&router, operation) { (asked, services, call, _) async throws(ServiceRefusal) in
            let names = try await names(services, call)
            return try await refusing(asked.within(names))
        }
    }

    private func promptingUnconfined<Asked: OwnerOperation>(
        _ router: inout GuardedRouter,
        _ operation: Asked.Type
    ) {
        prompting(&router, operation) { (asked, _, call, _) async throws(ServiceRefusal) in
            try await refuseConfined(operation, call)
            return asked
        }
    }

    /// Refuses a confined program's operation if the operation does not define which data belongs to such a program.
    func refuseConfined<Asked: ServiceOperation>(
        _ operation: Asked.Type,
        _ call: ServiceCall
    ) async throws(ServiceRefusal) {
        guard Asked.rules.callers == .anyProgram, !(operation is any ProgramIndependent.Type) else { return }
        try await rules.refuseConfined(call)
    }

    /// Returns the names of the items that a caller may use.
    private func names(_ services: Services, _ call: ServiceCall) async throws(ServiceRefusal) -> NameSpace {
        NameSpace(profile: services.profile, confinement: try await rules.confinement(of: call.client))
    }

    /// Adds a method that may prompt the owner.
    ///
    /// - Parameters:
    ///   - router: The methods.
    ///   - operation: The method.
    ///   - prepare: Returns the operation in the form that the caller may use; throws to refuse it.
    func prompting<Asked: OwnerOperation>(
        _ router: inout GuardedRouter,
        _ operation: Asked.Type,
        _ prepare:
            @escaping @Sendable (Asked, Services, ServiceCall, WirePresenter<Asked.Reply>)
            async throws(ServiceRefusal) -> Asked
    ) {
        router.onPrompting(operation) { (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            return try await answer(asked, call) { (operation, presenter) async throws(ServiceRefusal) in
                let prepared = try await prepare(operation, services, call, presenter)
                return try await refusing(
                    presenter,
                    await services.ask(prepared, presenter: presenter) { presenter.report($0) }
                )
            }
        }
    }

    /// Runs a call that may prompt the owner, with what the service knows about the caller.
    func answer<Asked: OwnerOperation>(
        _ asked: Prompting<Asked>,
        _ call: ServiceCall,
        _ body:
            @escaping @Sendable (Asked, WirePresenter<Asked.Reply>) async throws(ServiceRefusal) ->
            Asked.Reply
    ) async throws(ServiceRefusal) -> Asked.Reply {
        try await answer(asked, call, by: await rules.caller(call.client), body)
    }

    /// Runs a call that may prompt the owner, for a caller that asks on behalf of another program.
    func answer<Asked: OwnerOperation>(
        _ asked: Prompting<Asked>,
        _ call: ServiceCall,
        by caller: Caller,
        _ body:
            @escaping @Sendable (Asked, WirePresenter<Asked.Reply>) async throws(ServiceRefusal) ->
            Asked.Reply
    ) async throws(ServiceRefusal) -> Asked.Reply {
        let operation = completed(asked.call, call, by: caller)
        let presenter = WirePresenter<Asked.Reply>(asked.presenter, call, by: caller, self)
        let work = Task { () async -> Result<Asked.Reply, ServiceRefusal> in
            await Result(of: try await body(operation, presenter))
        }
        presenter.onLoss { work.cancel() }
        let number = running.add(in: caller.asker?.session) { presenter.lose($0) }
        defer { running.remove(number) }
        let answer = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
            presenter.hangUp()
        }
        rules.record(CallRecord(Asked.name, operation.callPurpose, answer), of: caller.asker)
        return try answer.get()
    }

    /// Returns the caller's operation with the session that it names and a time limit, so that the call does not block
    /// the reader for others.
    private func completed<Asked: OwnerOperation>(
        _ operation: Asked,
        _ call: ServiceCall,
        by caller: Caller
    ) -> Asked {
        var operation = operation
        operation.request = limited(operation.request.asked(by: caller))
        guard Asked.isInSession, var inSession = operation as? any SessionOperation else { return operation }
        inSession.session = session(inSession.sessionID, of: call, by: caller.asker)
        return inSession as? Asked ?? operation
    }

    /// Returns a request with the caller's stay and a time limit, so that the request does not block the reader for
    /// others.
    func limited<Request: OwnerRequest>(_ request: Request) -> Request {
        var request = request
        request.timeout = min(request.timeout, promptRules.longestTimeout)
        // An earlier match never counts for a change.
        guard var evaluation = request as? EvaluationRequest else { return request }
        evaluation.stay = stay(of: request.asker)
        if evaluation.reuse > .zero { stays.hold(for: min(evaluation.reuse, .seconds(300))) }
        return evaluation as? Request ?? request
    }

    /// Returns the stay of a program in its login session; `nil` if the service does not examine programs.
    func stay(of asker: Asker?) -> String? { asker.map { stays.name(of: $0.session) } }

    /// Returns the owner session that a caller names, within the caller's login session.
    func session(_ id: String?, of call: ServiceCall, by asker: Asker?) -> OwnerSession? {
        sessions.session(id, of: call.client, in: asker?.session)
    }
}
