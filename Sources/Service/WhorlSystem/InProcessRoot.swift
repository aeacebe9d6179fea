// SPDX-License-Identifier: Apache-2.0

package import WhorlStateStore
package import WhorlGLib
package import WhorlEngine
import WhorlEnrollment
package import WhorlFingerprint
internal import WhorlRemote
public import WhorlService
internal import WhorlSupport
import WhorlVault

/// The root of services in this process, for one configuration: the only type that knows every part.
///
/// The initializer opens nothing. The readers are looked for, and the store is opened, when they are first needed.
public final class InProcessRoot: Sendable {
    /// The root of the services that the faces use, configured from this process's environment.
    public static let shared = InProcessRoot(SystemConfiguration())

    /// The profile whose fingers are meant.
    public let profile: String
    /// The program that asks.
    public let application: ApplicationID
    /// The keychain's access groups that the program may use in addition to its own.
    public let accessGroups: [String]
    /// The directory of the state.
    package let stateDirectory: StateDirectory
    /// The engine behind the services.
    package let engine: AuthenticationEngine

    let choice: ReaderChoice
    let chip: ChipChoice
    let state: ProtectedState
    private let generations: AccountGenerations
    /// The account whose state it is.
    package let trust: AccountTrust
    private let keychain: KeychainRows
    package let handlers: HandlerTable

    /// Makes the services of a configuration.
    public convenience init(_ configuration: SystemConfiguration) {
        self.init(configuration, sessions: LoginManager())
    }

    /// Makes the services of a configuration for a process in the login sessions of a manager.
    package convenience init(_ configuration: SystemConfiguration, sessions: any SessionManager) {
        let interruptions = Interruptions()
        let own = LoginSessionWatch(sessions, interruptions)
        self.init(
            configuration,
            of: AccountTrust(),
            interruptions: interruptions,
            reach: .everywhere
        ) { await own.name }
    }

    /// Makes the services of a configuration, as one of several in a service.
    ///
    /// - Parameters:
    ///   - configuration: The choices.
    ///   - trust: The account whose state it is.
    ///   - interruptions: What ends the evaluations of all of them.
    ///   - reach: Which readers can be touched now.
    ///   - ownStay: Returns the stay of this process in its login session; a service, which is in none, has none.
    package init(
        _ configuration: SystemConfiguration,
        of trust: AccountTrust,
        interruptions: Interruptions,
        reach: ReaderReachability,
        ownStay: @escaping AuthenticationEngine.OwnStayProvider
    ) {
        let directory =
            configuration.stateDirectory.map { StateDirectory(path: $0) }
            ?? StateDirectory.standard(environment: configuration.environment)
        let choice = ReaderChoice(
            wanted: configuration.reader,
            namedIn: configuration.readerIsNamedIn,
            allowsPretended: configuration.allowsTestReaders,
            reach: reach,
            openReaders: configuration.openReaders
        )
        let printTrust = configuration.openReaders.map { open in
            PrintTrust.closedReaders { open.wereFound(after: $0) }
        }
        let chip = ChipChoice(
            wanted: configuration.tpm,
            allowsSimulated: configuration.allowsSimulatedTPM
        )
        let state = ProtectedState(directory, chip, of: trust)
        let generations = AccountGenerations(counter: VaultGenerations(state: state), trust: trust)
        let profile = configuration.chosenProfile
        self.profile = profile
        self.trust = trust
        self.choice = choice
        self.chip = chip
        self.state = state
        self.generations = generations
        application = configuration.chosenApplication
        accessGroups = configuration.accessGroups
        stateDirectory = directory
        let program = application.rawValue
        keychain = KeychainRows(of: profile, in: [program] + accessGroups) {
            creating async throws(ServiceError) in
            creating ? try await state.created() : try await state.existing()
        }
        engine = AuthenticationEngine(
            profile: profile,
            state: StateAccess(
                generations: generations,
                trust: printTrust ?? .everyPrint,
                existing: { () async throws(ServiceError) in try await state.existing() },
                created: { () async throws(ServiceError) in try await state.created() }
            ),
            passcode: VaultPasscode(of: profile, in: state) { () throws(ServiceError) in
                if trust.isRenamed { try trust.confirm() }
            },
            vault: state,
            texts: PromptTexts(),
            time: .system,
            interruptions: interruptions,
            obstacle: { await reach.untilObstructed($0) },
            rules: configuration.attemptRules,
            strength: configuration.strength,
            limits: configuration.proofLimits,
            ownStay: ownStay,
            reader: { () async throws(ServiceError) in try await choice.chosen() }
        )
        handlers = Self.handlers(of: engine, application, choice, chip, state)
    }

    /// Returns the handlers of all operations, which keep the parts that they need and not the root.
    private static func handlers(
        of engine: AuthenticationEngine,
        _ application: ApplicationID,
        _ choice: ReaderChoice,
        _ chip: ChipChoice,
        _ state: ProtectedState
    ) -> HandlerTable {
        var handlers = engine.handlers
        InProcessFingers(engine: engine, application: application, readers: choice).add(to: &handlers)
        InProcessItems(engine: engine, state: state).add(to: &handlers)
        InProcessPasscode(engine: engine, state: state).add(to: &handlers)
        InProcessKeyring(engine: engine, state: state).add(to: &handlers)
        InProcessMaintenance(engine: engine, state: state, chip: chip).add(to: &handlers)
        return handlers
    }

    /// The reason why this process cannot tell two boots of the machine apart; `nil` if it can.
    package static var clockFault: String? {
        MachineTime.system.now().bootID.isEmpty
            ? "Cannot read the boot ID, so touches are not reused: neither /proc/sys/kernel/random/boot_id nor the "
                + "credential whorl.boot-id is readable." : nil
    }

    /// Everything that programs can ask for.
    public var services: Services {
        Services(
            profile: profile,
            application: application,
            asker: handlers,
            keychain: keychain,
            readers: choice,
            upkeep: InProcessMaintenance(engine: engine, state: state, chip: chip)
        )
    }

    /// Returns the enrolled fingers, whose owner an engine asks.
    private func fingers(by engine: AuthenticationEngine) -> InProcessFingers {
        InProcessFingers(
            engine: engine,
            application: application,
            readers: choice
        )
    }

    /// Returns the reason why no finger can be asked for, where nothing was ever stored of the person; `nil` elsewhere.
    package func obstacleWithoutState() async -> ServiceError? {
        do throws(ServiceError) {
            guard try await state.existing() == nil else { return nil }
        } catch {
            // The request for a finger gets the fault.
            return nil
        }
        return await engine.obstacleWithoutState()
    }

    /// The login's side of the keyring.
    package var loginKeyring: any LoginKeyring { InProcessKeyring(engine: engine, state: state) }

    /// The failed tries of all logins at this machine, which count in this root's state.
    package var loginPlace: any PlaceTries { LoginPlaceTries(of: engine) }

    /// Lifts the lock on the profile's fingers, by the word of the system's administration.
    ///
    /// - Returns: Whether they were locked.
    package func unlock(by asker: Asker?) async throws(ServiceError) -> Bool {
        try await engine.unlock(by: asker)
    }

    /// Returns the fingers of the profile on one reader, for programs that the system's rules know.
    package func account(on reader: any FingerprintReader) -> AccountFingers {
        let engine = engine.with(reader: { [choice] () async throws(ServiceError) in
            try await choice.reachable(reader)
        })
        return AccountFingers(engine: engine, fingers: fingers(by: engine), reader: reader)
    }

    /// Asks which of several people touches the reader; the tries count in this root's state.
    package func identify(
        _ people: [(user: UInt32, root: InProcessRoot)],
        _ rules: GroupRules,
        _ request: EvaluationRequest,
        _ presenter: any PromptPresenter
    ) async throws(ServiceError) -> IdentifiedPerson {
        try await GroupIdentification(
            asker: engine,
            people: people.map { ($0.user, $0.root.engine) },
            rules: rules
        ).identify(request, presenter: presenter)
    }

    /// Returns the keychain's rows in other access groups than this program's, as a service does for its callers.
    package func keychain(in groups: [String]) -> any KeychainPages {
        let state = state
        return KeychainRows(of: profile, in: groups) { creating async throws(ServiceError) in
            creating ? try await state.created() : try await state.existing()
        }
    }
}

extension InProcessRoot: PrivateEngine {
    package func readerOfOwn() async throws(ServiceError) -> any FingerprintReader {
        try await choice.chosenReaderOfRoot()
    }

    package func keychainGroups() throws(ServiceError) -> (groups: [String], count: Int) {
        let state = state
        return try KeychainRows(of: profile, in: []) { creating async throws(ServiceError) in
            creating ? try await state.created() : try await state.existing()
        }.stored()
    }
}
