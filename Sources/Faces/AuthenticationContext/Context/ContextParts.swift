// SPDX-License-Identifier: Apache-2.0

package import Authentication
package import StateStore
internal import Synchronization
internal import TerminalPrompt
package import WhorlService
package import WhorlSystem

/// The environment of an `LAContext` or keychain call: service, prompt, calling application, database.
package struct ContextParts: Sendable {
    /// The service that evaluates, seals and releases.
    package let service: any AuthenticationService
    /// The presenter that shows the prompts.
    package let presenter: any PromptPresenter
    /// The calling application.
    package let application: ApplicationID
    /// The access to the database with the keychain's rows.
    package let state: StateAccess
    /// An event for each reader that comes or goes.
    package let readerEvents: @Sendable () async -> AsyncStream<Void>
    /// The objects that exist once in this environment.
    package let only = OnlyOnes()
    /// The profile whose rows are used.
    package let profile: String
    /// The access groups that the program may use in addition to its own, which is its name.
    package let accessGroups: [String]
    /// Whether this machine has a chip that this user may use; finding out creates nothing.
    package let hasChip: @Sendable () async -> Bool
    private let kept = KeptDatabase()

    /// Makes an environment from parts that the caller chooses.
    package init(
        service: any AuthenticationService,
        presenter: any PromptPresenter,
        application: ApplicationID,
        state: StateAccess,
        profile: String = "",
        accessGroups: [String] = [],
        hasChip: @escaping @Sendable () async -> Bool = { false },
        readerEvents: @escaping @Sendable () async -> AsyncStream<Void> = { AsyncStream { _ in } }
    ) {
        self.readerEvents = readerEvents
        self.service = service
        self.presenter = presenter
        self.application = application
        self.state = state
        self.profile = profile
        self.accessGroups = accessGroups
        self.hasChip = hasChip
    }

    /// Makes the environment of a root of services.
    package init(of root: SystemServices, presenter: any PromptPresenter) {
        let services = root.services
        self.init(
            service: root.authentication,
            presenter: presenter,
            application: root.application,
            state: root.stateAccess,
            profile: root.profile,
            accessGroups: root.accessGroups,
            // A chip that cannot be asked is as good as none here.
            hasChip: { (try? await services.maintenance.vaultStatus().obstacle == nil) ?? false },
            readerEvents: { await services.readers.readerEvents() }
        )
    }

    /// The environment of this process, which is created on first use; creating it opens nothing.
    ///
    /// Programs that provide no presenter of their own ask on the terminal.
    private static let system = ContextParts(of: SystemServices.shared, presenter: TerminalPrompt())

    /// The environment that a test has set for the current task.
    @TaskLocal package static var ofTask: ContextParts?
    /// The environment that a test has set for the whole process.
    package static var ofProcess: ContextParts? {
        get { keptOfProcess.withLock(\.self) }
        set { keptOfProcess.withLock { $0 = newValue } }
    }
    private static let keptOfProcess = Mutex<ContextParts?>(nil)

    /// The current environment: the task's, or else the process's, or else the system's.
    package static var current: ContextParts { ofTask ?? ofProcess ?? system }
}

extension ContextParts {
    /// Returns the database, and blocks the calling thread until it is open; later calls do not wait.
    ///
    /// - Parameter creating: Whether to create the database if nothing was ever stored.
    /// - Returns: The database; `nil` if nothing was ever stored and `creating` is `false`.
    /// - Throws: The reason why the database cannot be used.
    package func databaseBlocking(creating: Bool) throws(StateError) -> StateDatabase? {
        if let database = kept.database { return database }
        let state = state
        let result = WorkerThread.preflights.wait { () async -> Result<StateDatabase?, StateError> in
            do throws(StateError) {
                return .success(creating ? try await state.created() : try await state.existing())
            } catch {
                return .failure(error)
            }
        }
        let database = try result.get()
        kept.database = database
        return database
    }
}

/// A cache of the opened database, so that a call of the keychain does not have to change threads for it.
private final class KeptDatabase: Sendable {
    private let kept = Mutex<StateDatabase?>(nil)

    var database: StateDatabase? {
        get { kept.withLock(\.self) }
        set { kept.withLock { $0 = newValue } }
    }
}
