// SPDX-License-Identifier: Apache-2.0

package import WhorlIPC
package import WhorlService

/// The service's side of the connection, which provides each user's services through the methods of the interfaces.
///
/// Rights depend on the connected user, as reported by the kernel; a message cannot name another user.
package struct ServiceHost: Sendable {
    /// Returns the services of a user.
    package typealias ServicesOfUser = @Sendable (PeerUser) throws(ServiceRefusal) -> Services

    /// Returns the keychain rows of a user, in the access groups that the program names.
    package typealias KeychainOfUser =
        @Sendable (PeerUser, [String]) throws(ServiceRefusal) -> any KeychainPages

    let promptRules: PromptRules
    let services: ServicesOfUser
    let keychain: KeychainOfUser
    let rules: any CallerRules
    let prompts = PromptBoard()
    let agents = AgentBoard()
    let sessions = SessionBoard()
    /// The stays in login sessions; an earlier match counts only within the same stay.
    package let stays = SessionPeriods()
    let running = RunningCalls()
    /// The prompts of screen lockers that run as their users; a login or a prompt of the service ends them.
    let screenUnlocks = RunningCalls()
    /// The turns of searches.
    let searches = Turns<UInt32>(most: 2)
    /// The turns in which calls for keychain rows run.
    ///
    /// Only a few calls of each user wait for a queue at a time, so that a user with many calls does not delay the
    /// others.
    let rowCalls = Turns<UInt32>(most: 4)
    /// The service's side of logins; `nil` if the service does not have accounts to log in to.
    package var logins: LoginAccess?
    /// The engine of a private child; `nil` in the system service.
    package var privateEngine: (any PrivateEngine)?

    /// Creates a host.
    ///
    /// - Parameters:
    ///   - prompts: The rules for prompts.
    ///   - rules: Examines the calling programs and decides which rights they have; by default, all have the same
    ///     rights.
    ///   - services: Returns the services of the connected user.
    ///   - keychain: Returns the keychain rows of the connected user.
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

    /// Returns the methods, in the form that a server uses.
    package func router(version: String) -> Router { guarded(version: version).router }

    /// Returns the methods, with their rules.
    func guarded(version: String) -> GuardedRouter {
        let info = ServiceInfo(vendor: "Whorl", product: "whorld", version: version)
        var router = GuardedRouter(Router(info), rules, root: logins?.asker ?? 0, services: services)
        addOwner(&router)
        addFingers(&router)
        addKeychain(&router)
        addMaintenance(&router)
        addReaders(&router)
        addPrompts(&router)
        addAgents(&router)
        addLogin(&router)
        addSSH(&router)
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
    /// Creates the refusal for a call by a user who cannot use the services, because of the state or the account.
    package init(_ error: ServiceError) { self = error.refusal }
}
