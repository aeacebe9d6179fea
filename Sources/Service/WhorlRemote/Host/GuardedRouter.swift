// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlIPC
import WhorlService

/// The methods of a service, each with the programs that may call it.
///
/// Every method is added here. Its rule is checked before the parameters are read, so that no method's body can forget it.
struct GuardedRouter {
    /// The methods, for a server.
    private(set) var router: Router
    /// The rules of the methods, in the order in which they were added.
    private(set) var methods: [MethodRule] = []
    private let rules: any CallerRules
    private let services: ServiceHost.ServicesOfUser

    /// The user who may call what only root may.
    private let root: UInt32

    init(
        _ router: Router,
        _ rules: any CallerRules,
        root: UInt32,
        services: @escaping ServiceHost.ServicesOfUser
    ) {
        self.router = router
        self.root = root
        self.rules = rules
        self.services = services
    }

    /// Adds a method.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - body: Gets the parameters and the call of a program that may call it.
    mutating func on<Parameters: Codable & Sendable, Reply: Codable & Sendable>(
        _ method: ServiceMethod<Parameters, Reply>,
        _ body: @escaping @Sendable (Parameters, ServiceCall) async throws(ServiceRefusal) -> Reply
    ) {
        onAttaching(method) { (parameters, call) async throws(ServiceRefusal) in
            ServiceReply(try await body(parameters, call))
        }
    }

    /// Adds a method whose reply has descriptors.
    mutating func onAttaching<Parameters: Codable & Sendable, Reply: Codable & Sendable>(
        _ method: ServiceMethod<Parameters, Reply>,
        _ body:
            @escaping @Sendable (Parameters, ServiceCall) async throws(ServiceRefusal) -> ServiceReply<
                Reply
            >
    ) {
        methods.append(MethodRule(method))
        router.on(
            method.name,
            admitting: { [rules, root] call async throws(ServiceRefusal) in
                switch method.callers {
                case .anyProgram: break
                case .unconfined: try await rules.refuseConfined(call)
                case .unconfinedAtReader:
                    try await rules.refuseConfined(call)
                    try await rules.refuseElsewhere(call)
                case .root:
                    guard call.client.user.uid == root else {
                        throw ServiceRefusal(LoginRefused.rootAlone)
                    }
                }
            },
            taking: method.mostDescriptors,
            noting(method, body)
        )
    }

    /// Returns a body that writes to the journal and the owner's log what the call changed; a method that changes
    /// nothing keeps its own.
    private func noting<Parameters: Sendable, Reply: Sendable>(
        _ method: ServiceMethod<Parameters, Reply>,
        _ body:
            @escaping @Sendable (Parameters, ServiceCall) async throws(ServiceRefusal) -> ServiceReply<
                Reply
            >
    ) -> @Sendable (Parameters, ServiceCall) async throws(ServiceRefusal) -> ServiceReply<Reply> {
        guard let text = ChangeNote.texts[method.name] else { return body }
        return { [rules, services] (parameters, call) async throws(ServiceRefusal) in
            let answer = await Result<_, ServiceRefusal>(of: try await body(parameters, call))
            let caller = await rules.caller(call.client)
            let subject = (parameters as? any NamedChange)?.subject
            let purpose = CallPurpose(
                application: "",
                text: subject.map { "\(text.spoken): \($0)" } ?? text.spoken
            )
            // Calls in which the owner is asked have a record with the reason that they give.
            if !(parameters is any PromptingCall) {
                rules.record(CallRecord(method.name, purpose, answer), of: caller)
            }
            if let line = AuditEntry(text, subject, answer, caller),
                let owner = try? services(call.client.user)
            {
                await owner.maintenance.note(line.of(owner.profile))
            }
            return try answer.get()
        }
    }

    /// Adds an interface's description.
    mutating func describe(_ interface: String, _ text: String) { router.describe(interface, text) }
}

extension CallerRules {
    /// Refuses a program whose place lets no finger be asked for.
    fileprivate func refuseElsewhere(_ call: ServiceCall) async throws(ServiceRefusal) {
        guard let obstacle = await caller(call.client).fingerObstacle else { return }
        throw ServiceRefusal(
            "io.whorl.Connection.NotAtReader",
            ["message": obstacle.message, "recovery": obstacle.recovery]
        )
    }

    /// Refuses a confined program, and one that may be confined.
    fileprivate func refuseConfined(_ call: ServiceCall) async throws(ServiceRefusal) {
        guard try await confinement(of: call.client) == .none else {
            throw ServiceRefusal(
                "io.whorl.Connection.Confined",
                [
                    "message": "A confined program may not do this.",
                    "recovery": "Use `whorl` outside of the sandbox.",
                ]
            )
        }
    }
}

extension AuditEntry {
    /// Makes the line about a change; `nil` for one that did not happen, or that has its own.
    fileprivate init?<Value>(
        _ text: ChangeNote.Text,
        _ subject: String?,
        _ answer: Result<Value, ServiceRefusal>,
        _ caller: Caller
    ) {
        guard case .success = answer, !text.isLogged else { return nil }
        self.init(
            at: Date(),
            profile: "",
            application: caller.asker?.process ?? "",
            event: .change,
            outcome: text.outcome,
            detail: subject ?? text.spoken,
            asker: caller.asker
        )
    }

    /// Returns the line in the log of a profile.
    fileprivate func of(_ profile: String) -> AuditEntry {
        AuditEntry(
            at: at,
            profile: profile,
            application: application,
            event: event,
            outcome: outcome,
            detail: detail,
            asker: asker
        )
    }
}
