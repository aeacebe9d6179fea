// SPDX-License-Identifier: Apache-2.0

import WhorlIPC
import WhorlService

/// The programs that may call a method, among those of the users whom the service serves.
enum AllowedCallers: Sendable, Hashable {
    /// Any program. A confined one gets only what belongs to it: the method's body looks at the confinement.
    case anyProgram
    /// Programs that are not confined.
    case unconfined
    /// Programs that are not confined, from a place that lets a finger be asked for: they open or reset the reader.
    case unconfinedAtReader
    /// Programs of the user with this number, such as root for logins.
    case user(UInt32)
}

/// The methods of a service, each with the programs that may call it.
///
/// Every method is added here, and none without a rule. The rule is checked before the parameters are read, so that no
/// method's body can forget it.
struct GuardedRouter {
    /// The methods, for a server.
    private(set) var router: Router
    private let rules: any CallerRules

    init(_ router: Router, _ rules: any CallerRules) {
        self.router = router
        self.rules = rules
    }

    /// Adds a method.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - callers: The programs that may call it.
    ///   - body: Gets the parameters and the call of a program that may.
    mutating func on<Parameters: Codable & Sendable, Reply: Codable & Sendable>(
        _ method: ServiceMethod<Parameters, Reply>,
        for callers: AllowedCallers,
        _ body: @escaping @Sendable (Parameters, ServiceCall) async throws(ServiceRefusal) -> Reply
    ) {
        onAttaching(method, for: callers) { (parameters, call) async throws(ServiceRefusal) in
            ServiceReply(try await body(parameters, call))
        }
    }

    /// Adds a method whose reply has descriptors.
    mutating func onAttaching<Parameters: Codable & Sendable, Reply: Codable & Sendable>(
        _ method: ServiceMethod<Parameters, Reply>,
        for callers: AllowedCallers,
        _ body:
            @escaping @Sendable (Parameters, ServiceCall) async throws(ServiceRefusal) -> ServiceReply<
                Reply
            >
    ) {
        router.on(
            method.name,
            admitting: { [rules] call async throws(ServiceRefusal) in
                switch callers {
                case .anyProgram: break
                case .unconfined: try rules.refuseConfined(call)
                case .unconfinedAtReader:
                    try rules.refuseConfined(call)
                    try await rules.refuseElsewhere(call)
                case .user(let number):
                    guard call.client.user.uid == number else {
                        throw ServiceRefusal(LoginRefused.rootAlone)
                    }
                }
            },
            body
        )
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
    fileprivate func refuseConfined(_ call: ServiceCall) throws(ServiceRefusal) {
        guard try confinement(of: call.client) == .none else {
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
