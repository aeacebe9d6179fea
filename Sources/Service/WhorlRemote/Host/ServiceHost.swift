// SPDX-License-Identifier: Apache-2.0

package import WhorlIPC
package import WhorlService

/// The service's side of the wire: each user's services, by the methods of the interfaces.
///
/// Rights follow the user that connected, by the kernel's word; nothing in a message names another one.
package struct ServiceHost: Sendable {
    /// Returns the services of a user.
    package typealias ServicesOfUser = @Sendable (PeerUser) throws(ServiceRefusal) -> Services

    /// Returns the keychain's rows of a user, in the access groups that a program of his names.
    package typealias KeychainOfUser =
        @Sendable (PeerUser, [String]) throws(ServiceRefusal) -> any KeychainPages

    let promptRules: PromptRules
    let services: ServicesOfUser
    let keychain: KeychainOfUser
    let rules: any CallerRules
    let prompts = PromptBoard()
    let agents = AgentBoard()
    let sessions = SessionBoard()
    /// The stays in login sessions, by which an earlier match counts.
    package let stays = SessionPeriods()
    let running = RunningCalls()
    /// The searches.
    let searches = Turns<UInt32>(most: 2)
    /// The calls for keychain rows.
    ///
    /// Few of each user wait for a queue, so that no user's many keep the others waiting.
    let rowCalls = Turns<UInt32>(most: 4)
    /// The access of logins; without it the service has no accounts to log in to.
    package var logins: LoginAccess?
    /// The engine of a private child; the system's service shows it to no program.
    package var privateEngine: (any PrivateEngine)?

    /// Makes a host.
    ///
    /// - Parameters:
    ///   - prompts: The rules by which people are asked.
    ///   - rules: Knows the programs that ask, and what each may; without them all may the same.
    ///   - services: Returns the services of the user who connected.
    ///   - keychain: Returns the keychain's rows of the user who connected.
    package init(
        prompts: PromptRules = PromptRules(),
        rules: any CallerRules = UniformCallerRules(),
        services: @escaping ServicesOfUser,
        keychain: @escaping KeychainOfUser
    ) {
        promptRules = prompts
        self.services = services
        self.keychain = keychain
        self.rules = rules
    }

    /// The methods, for a server.
    package func router(version: String) -> Router { guarded(version: version).router }

    /// The methods, with their rules.
    func guarded(version: String) -> GuardedRouter {
        let info = ServiceInfo(
            vendor: "Whorl",
            product: "whorld",
            version: version,
            url: "https://github.com/whorl/whorl"
        )
        var router = GuardedRouter(Router(info), rules, root: logins?.asker ?? 0, services: services)
        addOwner(&router)
        addFingers(&router)
        addKeychain(&router)
        addMaintenance(&router)
        addReaders(&router)
        addPrompts(&router)
        addAgents(&router)
        addLogin(&router)
        if let privateEngine {
            addPrivate(privateEngine, &router)
            router.describe(InterfaceText.ofPrivateChild.name, InterfaceText.ofPrivateChild.text)
        }
        for operation in Operations.all where !router.has(operation.name) { add(operation, &router) }
        for interface in InterfaceText.all where interface.name != "io.whorl.Login" || logins != nil {
            router.describe(interface.name, interface.text)
        }
        return router
    }
}

extension ServiceRefusal {
    /// Makes the refusal of a call whose user gets no services, for a reason of the state or of the account.
    package init(_ error: ServiceError) { self = error.refusal }
}
