// SPDX-License-Identifier: Apache-2.0

public import Authentication
public import Enrollment
public import Fingerprint
public import StateStore
internal import TerminalPrompt
import Vault
internal import WhorlSupport

/// Everything put together for one configuration: the only place that knows every part.
///
/// Making one opens nothing. The readers are looked for, and the store is opened, when they are first needed.
public final class SystemServices: Sendable {
    /// The one that the faces use, from this process's environment.
    public static let shared = SystemServices(SystemConfiguration())

    /// Whose fingers.
    public let profile: String
    /// The program that asks.
    public let application: ApplicationID
    /// The keychain's access groups that the program may use besides its own.
    public let accessGroups: [String]
    /// Where the state lives.
    public let stateDirectory: StateDirectory
    /// The engine, for what is not behind `AuthenticationService`: the audit log, the attempts.
    public let engine: AuthenticationEngine
    /// The database, for what keeps rows of its own there: the keychain.
    package let stateAccess: StateAccess

    private let choice: ReaderChoice
    let chip: ChipChoice
    let state: ProtectedState
    private let generations: VaultGenerations

    /// Puts the parts together.
    public init(_ configuration: SystemConfiguration) {
        let directory =
            configuration.stateDirectory.map { StateDirectory(path: $0) }
            ?? StateDirectory.standard(environment: configuration.environment)
        let choice = ReaderChoice(
            wanted: configuration.reader,
            allowsPretended: configuration.allowsPretendedReaders
        )
        let chip = ChipChoice(
            wanted: configuration.tpm,
            allowsSimulated: configuration.allowsSimulatedTPM
        )
        let state = ProtectedState(directory, chip)
        let generations = VaultGenerations(state: state)
        let vault = VaultAccess(
            existing: { () async throws(VaultError) in try await state.existingVault() },
            inChip: { () async throws(VaultError) in try await state.chipVault() },
            made: { () async throws(VaultError) in try await state.madeVault() }
        )
        let profile = configuration.profile ?? ThisProcess.userName
        self.profile = profile
        self.choice = choice
        self.chip = chip
        self.state = state
        self.generations = generations
        application = configuration.application ?? ApplicationID(rawValue: ThisProcess.programName)
        accessGroups = configuration.accessGroups
        stateDirectory = directory
        let access = StateAccess(
            generations: generations,
            existing: { () async throws(StateError) in try await state.existing() },
            created: { () async throws(StateError) in try await state.created() }
        )
        stateAccess = access
        engine = AuthenticationEngine(
            profile: profile,
            state: access,
            passcode: VaultPasscode(of: profile, in: vault),
            vault: vault,
            reader: { () async throws(AuthenticationError) in try await choice.chosen() }
        )
    }

    /// The seam that the faces talk to.
    public var authentication: any AuthenticationService { engine }

    /// The prompt of programs that give none of their own: the terminal.
    public var presenter: any PromptPresenter { TerminalPrompt() }

    /// Where readers come from.
    ///
    /// - Throws: `readerNotChosen` when a mock is named whose script cannot be read, or that is not allowed.
    public func source() throws(AuthenticationError) -> any ReaderSource { try choice.source() }

    /// An event for each reader that comes or goes, until the stream's task ends; none where no source can be told.
    package func readerEvents() async -> AsyncStream<Void> {
        guard let changes = try? await choice.source().changes() else { return AsyncStream { _ in } }
        let (events, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let forwarding = Task(executorPreference: currentExecutor) {
            for await _ in changes { sink.yield() }
        }
        sink.onTermination = { _ in forwarding.cancel() }
        return events
    }

    /// All readers that are connected and may be used.
    public func readers() async throws(AuthenticationError) -> [any FingerprintReader] {
        try await choice.readers()
    }

    /// The reader that is meant.
    ///
    /// - Throws: `biometryNotAvailable` when none is connected; `readerNotChosen` when several are and none is named, or
    ///   the named one is not among them.
    public func chosenReader() async throws(AuthenticationError) -> any FingerprintReader {
        guard let reader = try await choice.chosen() else {
            throw AuthenticationError(ReaderError(.notFound, operation: "enumerate"))
        }
        return reader
    }

    /// The store, made now when there is none.
    public func store() async throws(StateError) -> EnrollmentStore {
        EnrollmentStore(database: try await state.created(), generations: generations)
    }

    /// What enrolls, removes and accepts fingers; the store is made now when there is none.
    ///
    /// Where a finger is enrolled or a passcode is set, it takes the consent of the owner, for which
    /// `AuthenticationEngine.consent(to:_:presenter:)` asks.
    public func enroller() async throws(StateError) -> FingerEnroller {
        engine.enroller(try await store(), for: application)
    }

    /// The same; `nil` when nothing was ever stored here.
    public func existingEnroller() async throws(StateError) -> FingerEnroller? {
        try await existingStore().map { engine.enroller($0, for: application) }
    }

    /// The store; `nil` when nothing was ever stored here.
    public func existingStore() async throws(StateError) -> EnrollmentStore? {
        try await state.existing().map { EnrollmentStore(database: $0, generations: generations) }
    }
}
