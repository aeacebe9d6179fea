// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
internal import Synchronization

/// The environment of an `LAContext` or keychain call: services, prompt and calling application.
package struct ContextParts: ServiceAsker {
    /// The service that authenticates the owner, and seals and releases items.
    package let asker: any ServiceAsker
    /// The service that stores the keychain rows.
    package let keychain: any KeychainRowService
    /// The presenter that shows the prompts.
    package let presenter: any PromptPresenter
    /// The calling application.
    package let application: ApplicationID
    /// The profile whose fingers and named items are used.
    package let profile: String
    /// Returns a stream with an event each time a reader is connected or disconnected.
    package let readerEvents: @Sendable () async -> AsyncStream<Void>
    /// The objects that exist only once in this environment.
    package let only = SharedInstances()
    /// Returns whether this machine has a TPM that this user may use, without creating anything.
    package let hasChip: @Sendable () async -> Bool
    /// Returns numbers that change whenever the state does; `nil` if they are unknown.
    package let changeMark: @Sendable () async -> [Int]?

    /// Creates an environment from the given parts.
    ///
    /// - Parameters:
    ///   - asker: The service that authenticates the owner, and seals and releases items.
    ///   - presenter: The presenter that shows the prompts.
    ///   - application: The calling application.
    ///   - profile: The profile whose fingers and named items are used.
    ///   - keychain: The service that stores the keychain rows; if omitted, there are no rows.
    ///   - hasChip: Returns whether the machine has a TPM.
    ///   - changeMark: Returns numbers that change whenever the state does.
    ///   - readerEvents: Returns a stream with an event each time a reader is connected or disconnected.
    package init(
        asker: any ServiceAsker,
        presenter: any PromptPresenter,
        application: ApplicationID,
        profile: String = "owner",
        keychain: (any KeychainRowService)? = nil,
        hasChip: @escaping @Sendable () async -> Bool = { false },
        changeMark: @escaping @Sendable () async -> [Int]? = { nil },
        readerEvents: @escaping @Sendable () async -> AsyncStream<Void> = { AsyncStream { _ in } }
    ) {
        self.asker = asker
        self.keychain = keychain ?? NoKeychainRows(application)
        self.presenter = presenter
        self.application = application
        self.profile = profile
        self.hasChip = hasChip
        self.changeMark = changeMark
        self.readerEvents = readerEvents
    }

    /// Creates the environment of a program that uses these services.
    package init(of services: Services, presenter: any PromptPresenter) {
        asker = services
        keychain = services.keychain
        self.presenter = presenter
        application = services.application
        profile = services.profile
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

/// The objects that exist only once in each environment, such as `LAEnvironment.currentUser`.
package final class SharedInstances: Sendable {
    private let objects = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    /// Returns the shared object of a type, creating it on the first call.
    ///
    /// The object must not retain its environment, because the environment retains it.
    package func one<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
        objects.withLock { objects in
            if let object = objects[ObjectIdentifier(Object.self)] as? Object { return object }
            let made = make()
            objects[ObjectIdentifier(Object.self)] = made
            return made
        }
    }
}

/// An empty keychain, which does not store rows, for an environment without a state directory.
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
        throw ServiceError(.storeFailed, cause: "no state directory")
    }

    func update(
        _ changes: [KeychainRowChange],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome { .stale }

    func delete(_ matches: [KeychainMatch]) throws(ServiceError) -> Int { 0 }
}
