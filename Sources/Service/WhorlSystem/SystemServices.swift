// SPDX-License-Identifier: Apache-2.0

public import Authentication
public import Enrollment
public import Fingerprint
public import StateStore
internal import TerminalPrompt
import Vault
internal import WhorlSupport

/// The parts of Whorl put together for one configuration: the only type that knows every part.
///
/// The initializer opens nothing. The readers are looked for, and the store is opened, when they are first needed.
public final class SystemServices: Sendable {
    /// The services that the faces use, configured from this process's environment.
    public static let shared = SystemServices(SystemConfiguration())

    /// The profile whose fingers are meant.
    public let profile: String
    /// The program that asks.
    public let application: ApplicationID
    /// The keychain's access groups that the program may use in addition to its own.
    public let accessGroups: [String]
    /// The directory of the state.
    public let stateDirectory: StateDirectory
    /// The engine, for functions that are not part of `AuthenticationService`: the audit log, the attempts.
    public let engine: AuthenticationEngine
    /// The access to the database, for the keychain, which keeps rows of its own there.
    package let stateAccess: StateAccess

    private let choice: ReaderChoice
    let chip: ChipChoice
    let state: ProtectedState
    private let generations: VaultGenerations

    /// Makes the services of a configuration.
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

    /// The service that the faces use.
    public var authentication: any AuthenticationService { engine }

    /// The presenter of programs that provide none of their own: the terminal.
    public var presenter: any PromptPresenter { TerminalPrompt() }

    /// Returns the source of readers.
    ///
    /// - Throws: `readerNotChosen` when a named mock is not allowed, or its script cannot be read.
    public func source() throws(AuthenticationError) -> any ReaderSource { try choice.source() }

    /// Returns a stream with an event for each reader that comes or goes, until the stream's task ends; empty without a
    /// source.
    package func readerEvents() async -> AsyncStream<Void> {
        guard let changes = try? await choice.source().changes() else { return AsyncStream { _ in } }
        let (events, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let forwarding = Task(executorPreference: currentExecutor) {
            for await _ in changes { sink.yield() }
        }
        sink.onTermination = { _ in forwarding.cancel() }
        return events
    }

    /// Returns all readers that are connected and may be used.
    public func readers() async throws(AuthenticationError) -> [any FingerprintReader] {
        try await choice.readers()
    }

    /// Returns the chosen reader.
    ///
    /// - Throws: `biometryNotAvailable` when none is connected; `readerNotChosen` when several are connected and none
    ///   is named, or the named one is not among them.
    public func chosenReader() async throws(AuthenticationError) -> any FingerprintReader {
        guard let reader = try await choice.chosen() else {
            throw AuthenticationError(ReaderError(.notFound, operation: "enumerate"))
        }
        return reader
    }

    /// Returns the store, which is made if it does not exist.
    public func store() async throws(StateError) -> EnrollmentStore {
        EnrollmentStore(database: try await state.created(), generations: generations)
    }

    /// Returns an enroller that enrolls, removes and accepts fingers; the store is made if it does not exist.
    ///
    /// Where a finger is enrolled or a passcode is set, changes need the consent of the owner, for which
    /// `AuthenticationEngine.consent(to:_:presenter:)` asks.
    public func enroller() async throws(StateError) -> FingerEnroller {
        engine.enroller(try await store(), for: application)
    }

    /// Returns an enroller as ``enroller()`` does; `nil` when nothing was ever stored here.
    public func existingEnroller() async throws(StateError) -> FingerEnroller? {
        try await existingStore().map { engine.enroller($0, for: application) }
    }

    /// Returns the store; `nil` if nothing was ever stored here.
    public func existingStore() async throws(StateError) -> EnrollmentStore? {
        try await state.existing().map { EnrollmentStore(database: $0, generations: generations) }
    }
}
