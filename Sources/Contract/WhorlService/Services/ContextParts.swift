// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
internal import Synchronization

/// The environment of an `LAContext` or keychain call: services, prompt, calling application.
package struct ContextParts: ServiceAsker {
    /// The service that asks the owner, seals and releases.
    package let asker: any ServiceAsker
    /// The service that stores the keychain's rows.
    package let keychain: any KeychainRowService
    /// The presenter that shows the prompts.
    package let presenter: any PromptPresenter
    /// The calling application.
    package let application: ApplicationID
    /// An event for each reader that comes or goes.
    package let readerEvents: @Sendable () async -> AsyncStream<Void>
    /// The objects that exist once in this environment.
    package let only = SharedInstances()
    /// Whether this machine has a chip that this user may use; finding out creates nothing.
    package let hasChip: @Sendable () async -> Bool
    /// Returns numbers that differ after each change of the state; `nil` if they are unknown.
    package let changeMark: @Sendable () async -> [Int]?

    /// Makes an environment from parts that the caller chooses.
    ///
    /// - Parameters:
    ///   - asker: The service that asks the owner, seals and releases.
    ///   - presenter: The presenter that shows the prompts.
    ///   - application: The calling application.
    ///   - keychain: The service that stores the keychain's rows; without one there are none.
    ///   - hasChip: Whether the machine has a chip.
    ///   - changeMark: Returns numbers that differ after each change of the state.
    ///   - readerEvents: An event for each reader that comes or goes.
    package init(
        asker: any ServiceAsker,
        presenter: any PromptPresenter,
        application: ApplicationID,
        keychain: (any KeychainRowService)? = nil,
        hasChip: @escaping @Sendable () async -> Bool = { false },
        changeMark: @escaping @Sendable () async -> [Int]? = { nil },
        readerEvents: @escaping @Sendable () async -> AsyncStream<Void> = { AsyncStream { _ in } }
    ) {
        self.asker = asker
        self.keychain = keychain ?? NoKeychainRows(application)
        self.presenter = presenter
        self.application = application
        self.hasChip = hasChip
        self.changeMark = changeMark
        self.readerEvents = readerEvents
    }

    /// Makes the environment of a program that asks these services.
    package init(of services: Services, presenter: any PromptPresenter) {
        asker = services
        keychain = services.keychain
        self.presenter = presenter
        application = services.application
        hasChip = { await services.hasChip() }
        changeMark = { await services.changeMark() }
        readerEvents = { await services.readers.readerEvents() }
    }

    package func answer<Asked: ServiceOperation>(
        _ operation: Asked,
        _ prompter: Prompter?
    ) async throws(ServiceError) -> Asked.Reply { try await asker.answer(operation, prompter) }

    package func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem {
        try asker.sealedItem(encoded: encoded)
    }
}

/// The objects that exist once in each environment, such as `LAEnvironment.currentUser`.
package final class SharedInstances: Sendable {
    private let objects = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    /// Returns the one object of a type, and makes it at the first call.
    ///
    /// The object must not retain its environment, since the environment retains it.
    package func one<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
        objects.withLock { objects in
            if let object = objects[ObjectIdentifier(Object.self)] as? Object { return object }
            let made = make()
            objects[ObjectIdentifier(Object.self)] = made
            return made
        }
    }
}

/// The keychain of an environment without one: it has no rows, and stores none.
struct NoKeychainRows: KeychainRowService {
    let groups: [String]

    init(_ application: ApplicationID) { groups = [application.rawValue] }

    func rows(
        _ match: KeychainMatch,
        withValues: Bool,
        limit: Int
    ) throws(ServiceError) -> [KeychainRow] { [] }

    func add(
        _ new: [NewKeychainRow],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome {
        throw ServiceError(.storeFailed, cause: "there is no state directory")
    }

    func update(
        _ changes: [KeychainRowChange],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome { .stale }

    func delete(_ matches: [KeychainMatch]) throws(ServiceError) -> Int { 0 }
}
