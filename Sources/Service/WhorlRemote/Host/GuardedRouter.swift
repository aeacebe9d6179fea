// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import WhorlIPC
import WhorlService

/// The methods of a service, with the rules for which programs may call them.
///
/// Every method is added here. Its rule is checked before the parameters are read, so that no method can omit the
/// check.
struct GuardedRouter {
    /// The methods, in the form that a server uses.
    private(set) var router: Router
    /// The rules of the methods, in the order in which they were added.
    private(set) var methods: [MethodRule] = []
    private let rules: any CallerRules
    private let journal: ChangeJournal

    /// The user ID that may call root-only methods.
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
        journal = ChangeJournal(rules: rules, services: services)
    }

    /// Returns whether a method was added.
    func has(_ name: String) -> Bool { methods.contains { $0.name == name } }

    /// Adds a method.
    ///
    /// - Parameters:
    ///   - operation: The method.
    ///   - body: Called with the operation and the call if the program may call the method.
    mutating func on<Asked: ServiceOperation>(
        _ operation: Asked.Type,
        _ body: @escaping @Sendable (Asked, ServiceCall) async throws(ServiceRefusal) -> Asked.Reply
    ) {
        onAttaching(operation) { (asked, call) async throws(ServiceRefusal) in
            ServiceReply(try await body(asked, call))
        }
    }

    /// Adds a method whose reply can include descriptors that are not secret.
    mutating func onAttaching<Asked: ServiceOperation>(
        _ operation: Asked.Type,
        _ body:
            @escaping @Sendable (Asked, ServiceCall) async throws(ServiceRefusal) -> ServiceReply<Asked.Reply>
    ) {
        add(MethodRule(operation)) { [journal] (asked: Asked, call) async throws(ServiceRefusal) in
            let answer = await Result<_, ServiceRefusal>(of: try await body(asked, call))
            await journal.note(asked, answer.map { _ in }, call)
            return try answer.get()
        }
    }

    /// Adds a method that may prompt the owner.
    mutating func onPrompting<Asked: OwnerOperation>(
        _ operation: Asked.Type,
        _ body:
            @escaping @Sendable (Prompting<Asked>, ServiceCall) async throws(ServiceRefusal) -> Asked.Reply
    ) {
        add(MethodRule(operation)) { [journal] (asked: Prompting<Asked>, call) async throws(ServiceRefusal) in
            let answer = await Result<_, ServiceRefusal>(of: try await body(asked, call))
            await journal.note(asked.call, answer.map { _ in }, call)
            return ServiceReply(Prompted(value: try answer.get()))
        }
    }

    private mutating func add<Parameters: Codable & Sendable, Reply: Codable & Sendable>(
        _ rule: MethodRule,
        _ body:
            @escaping @Sendable (Parameters, ServiceCall) async throws(ServiceRefusal) -> ServiceReply<Reply>
    ) {
        methods.append(rule)
        router.on(
            rule.name,
            admitting: { [rules, root] call async throws(ServiceRefusal) in
                switch rule.rules.callers {
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
            asksOwner: rule.asksOwner,
            taking: rule.rules.attachments.count,
            ofAtMost: rule.rules.attachments.size,
            body
        )
    }

    /// Adds an interface's description.
    mutating func describe(_ interface: String, _ text: String) { router.describe(interface, text) }
}

/// The rules of a method.
struct MethodRule: Sendable, Hashable {
    let name: String
    let rules: OperationRules
    /// Whether the call may prompt the owner.
    ///
    /// It prompts for a finger only if the caller's place allows it.
    let asksOwner: Bool

    init<Asked: ServiceOperation>(_ operation: Asked.Type) {
        name = Asked.name
        rules = Asked.rules
        asksOwner = Asked.asksOwner
    }
}

/// Records the changes that calls make, in the journal and the owner's log.
private struct ChangeJournal: Sendable {
    let rules: any CallerRules
    let services: ServiceHost.ServicesOfUser

    /// Records the change that a call makes, if its operation makes one.
    func note<Asked: ServiceOperation>(
        _ operation: Asked,
        _ answer: Result<Void, ServiceRefusal>,
        _ call: ServiceCall
    ) async {
        guard let change = Asked.rules.effect.change else { return }
        let caller = await rules.caller(call.client)
        let subject = (operation as? any DescribedChange)?.subject
        let text = subject.map { "\(change.text): \($0)" } ?? change.text
        // Calls that prompt the owner have a record with their reason.
        if !Asked.asksOwner {
            let purpose = CallPurpose(application: "", text: text)
            rules.record(CallRecord(Asked.name, purpose, answer), of: caller.asker)
        }
        guard case .success = answer, let outcome = change.outcome,
            // Without services, the call cannot have changed any of the user's data.
            let owner = try? services(call.client.user)
        else { return }
        await owner.note(
            AuditEntry(
                at: Date(),
                profile: owner.profile,
                application: caller.asker?.process ?? "",
                event: .change,
                outcome: outcome,
                detail: subject ?? change.text,
                asker: caller.asker
            ),
            // An administrator may have stored nothing, and other changes are those of the owner's own data.
            beginsLog: Asked.self == EnrollFingerFor.self
        )
    }
}

extension OperationRules.Effect {
    /// The description of the change, and the outcome for the owner's log if the operation does not write to the log
    /// itself.
    var change: (text: String, outcome: String?)? {
        switch self {
        case .repeatable, .once: nil
        case .change(let text, let outcome): (text, outcome)
        case .loggedChange(let text): (text, nil)
        }
    }
}

extension CallerRules {
    /// Refuses a call from a place that does not allow prompting for a finger.
    fileprivate func refuseElsewhere(_ call: ServiceCall) async throws(ServiceRefusal) {
        guard let obstacle = await caller(call.client).fingerObstacle else { return }
        throw ServiceRefusal(
            "io.whorl.Connection.NotAtReader",
            ["message": obstacle.message, "recovery": obstacle.recovery]
        )
    }

    /// Refuses a call by a program that is or may be confined.
    func refuseConfined(_ call: ServiceCall) async throws(ServiceRefusal) {
        guard try await confinement(of: call.client) == .none else {
            throw ServiceRefusal(
                "io.whorl.Connection.Confined",
                message: "Sandboxed programs cannot do this.",
                recovery: "Use `whorl` outside the sandbox."
            )
        }
    }
}
