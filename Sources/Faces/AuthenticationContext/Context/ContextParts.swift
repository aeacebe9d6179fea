// SPDX-License-Identifier: Apache-2.0

package import Authentication
package import StateStore
internal import Synchronization
internal import Vault
internal import WhorlSystem

/// What a context or the keychain asks, with what prompt, in whose name, and where its rows lie.
package struct ContextParts: Sendable {
    /// Who evaluates, seals and releases.
    package let service: any AuthenticationService
    /// Who shows the prompts.
    package let presenter: any PromptPresenter
    /// The program that asks.
    package let application: ApplicationID
    /// Where the keychain's rows are.
    package let state: StateAccess
    /// An event for each reader that comes or goes.
    package let readerEvents: @Sendable () async -> AsyncStream<Void>
    /// What there is one of in these surroundings.
    package let only = OnlyOnes()
    /// Whose rows.
    package let profile: String
    /// The access groups that the program may use besides its own, which is its name.
    package let accessGroups: [String]
    /// Whether there is a chip that this user may use; nothing is made to find it out.
    package let hasChip: @Sendable () async -> Bool
    private let kept = KeptDatabase()

    /// Describes surroundings of a caller's choice.
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

    /// Those of this process, put together when they are first needed; that opens nothing yet.
    private static let system: ContextParts = {
        let services = SystemServices.shared
        return ContextParts(
            service: services.authentication,
            presenter: services.presenter,
            application: services.application,
            state: services.stateAccess,
            profile: services.profile,
            accessGroups: services.accessGroups,
            hasChip: { (try? await services.vaultStatus().obstacle == nil) ?? false },
            readerEvents: { await services.readerEvents() }
        )
    }()

    /// Those that a test put in place for the task that runs.
    @TaskLocal package static var ofTask: ContextParts?
    /// Those that a test put in place for the whole process.
    package static var ofProcess: ContextParts? {
        get { keptOfProcess.withLock(\.self) }
        set { keptOfProcess.withLock { $0 = newValue } }
    }
    private static let keptOfProcess = Mutex<ContextParts?>(nil)

    /// Those that count here and now: the task's, else the process's, else the system's.
    package static var current: ContextParts { ofTask ?? ofProcess ?? system }
}

extension ContextParts {
    /// The database, for a caller who waits on its thread; once it was opened, nothing is waited for.
    ///
    /// - Parameter creating: Whether it is made where nothing was ever stored.
    /// - Returns: `nil` where nothing was ever stored and nothing is made.
    /// - Throws: why the database cannot be used.
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

/// The database once it was opened, so that a call of the keychain does not change threads for it.
private final class KeptDatabase: Sendable {
    private let kept = Mutex<StateDatabase?>(nil)

    var database: StateDatabase? {
        get { kept.withLock(\.self) }
        set { kept.withLock { $0 = newValue } }
    }
}
