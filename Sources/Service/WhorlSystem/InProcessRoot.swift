// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import WhorlStateStore
package import WhorlGLib
package import WhorlEngine
import WhorlEnrollment
package import WhorlFingerprint
internal import WhorlRemote
public import WhorlService
internal import WhorlSupport
import WhorlVault

/// The root of the services in this process, for one configuration.
///
/// It is the only type that knows all parts.
///
/// The initializer does not open anything. Readers and the database are opened when they are first needed.
public final class InProcessRoot: Sendable {
    /// The shared root, which is configured from this process's environment.
    public static let shared = InProcessRoot(SystemConfiguration())

    /// The profile to which the fingers belong.
    public let profile: String
    /// The requesting program.
    public let application: ApplicationID
    /// The additional keychain access groups that the program may use.
    public let accessGroups: [String]
    /// The state directory.
    package let stateDirectory: StateDirectory
    /// The engine that the services use.
    package let engine: AuthenticationEngine

    let choice: ReaderChoice
    let chip: ChipChoice
    let state: ProtectedState
    private let generations: AccountGenerations
    /// The account to which the state belongs.
    package let trust: AccountTrust
    private let keychain: KeychainRows
    package let handlers: HandlerTable

    /// Creates the services for a configuration.
    public convenience init(_ configuration: SystemConfiguration) {
        self.init(configuration, sessions: LoginManager())
    }

    /// Creates the services for a configuration, for a process whose login session a session manager knows.
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

    /// Creates the services for a configuration, as one of several roots in a service.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - trust: The account to which the state belongs.
    ///   - interruptions: The events that end the evaluations of all roots.
    ///   - reach: Determines which readers can currently be touched.
    ///   - ownStay: Returns the stay of this process in its login session; a service does not belong to a login
    ///     session.
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

    /// Returns the handlers of all operations.
    ///
    /// They retain the parts that they need, but not the root.
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
        InProcessProgramItems(engine: engine, state: state).add(to: &handlers)
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

    /// All services that programs use.
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

    /// Returns the enrolled fingers, with the engine that prompts their owner.
    private func fingers(by engine: AuthenticationEngine) -> InProcessFingers {
        InProcessFingers(
            engine: engine,
            application: application,
            readers: choice
        )
    }

    /// Returns the reason why fingers cannot be used if no data was ever stored for the user; otherwise `nil`.
    package func obstacleWithoutState() async -> ServiceError? {
        do throws(ServiceError) {
            guard try await state.existing() == nil else { return nil }
        } catch {
            // The request for a finger reports the error.
            return nil
        }
        return await engine.obstacleWithoutState()
    }

    /// The keyring, as logins use it.
    package var loginKeyring: any LoginKeyring { InProcessKeyring(engine: engine, state: state) }

    /// The counter of failed attempts of all logins on this machine, which is stored in this root's state.
    package var loginPlace: any PlaceTries { LoginPlaceTries(of: engine) }

    /// Ends the lockout of the profile's fingers on behalf of an administrator.
    ///
    /// - Returns: Whether the fingers were locked out.
    package func unlock(by asker: Asker?) async throws(ServiceError) -> Bool {
        try await engine.unlock(by: asker)
    }

    /// Enrolls the first finger of the profile, which has stored nothing, on behalf of an administrator.
    package func enrollFirst(
        _ finger: NewFinger,
        _ request: ConsentRequest,
        _ observer: @escaping @Sendable (EnrollmentProgress) -> Void
    ) async throws(ServiceError) -> EnrolledFinger {
        let enrolled = try await fingers(by: engine).enrollFirst(finger, request, observer)
        let entry = AuditEntry(
            at: Date(),
            profile: profile,
            application: request.application.rawValue,
            event: .change,
            outcome: "fingerEnrolled",
            finger: enrolled.finger,
            reader: enrolled.reader,
            detail: "by an administrator",
            asker: request.asker
        )
        await services.note(entry, beginsLog: false)
        return enrolled
    }

    /// Returns the profile's fingers on one reader, for programs that the system's rules cover.
    package func account(on reader: any FingerprintReader) -> AccountFingers {
        let engine = engine.with(reader: { [choice] () async throws(ServiceError) in
            try await choice.reachable(reader)
        })
        return AccountFingers(engine: engine, fingers: fingers(by: engine), reader: reader)
    }

    /// Identifies which of several users is touching the reader.
    ///
    /// Attempts are counted in this root's state.
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

    /// Returns the keychain rows in any access groups, as a service provides them to its callers.
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
