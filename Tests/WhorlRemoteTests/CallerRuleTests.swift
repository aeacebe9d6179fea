// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Foundation
import WhorlSecretMemory
import SoftwareMachine
import SoftwareTPM
import Synchronization
import Testing
import WhorlIPC
import WhorlService
import WhorlSystem

@testable import WhorlRemote

/// Rules as a test says, for all callers.
final class ScriptedRules: CallerRules {
    private struct State {
        var caller = Caller(asker: Asker(user: 77, process: "test"))
        var agent: Caller?
        var agents: [Int32] = []
        var isUnknown = false
        var refusal: ServiceError?
        var asked: [GuardedAction] = []
        var records: [CallRecord] = []
        var placesLookedAt = 0
    }

    private let state = Mutex(State())

    func set(
        _ confinement: Confinement = .none,
        obstacle: ServiceError? = nil,
        seat: ServiceError? = nil,
        lock: ServiceError? = nil,
        refusal: ServiceError? = nil,
        isUnknown: Bool = false,
        process: Int32? = 1234,
        session: String? = nil
    ) {
        state.withLock { state in
            var id: String?
            if case .id(let name) = confinement { id = name }
            state.caller = Caller(
                asker: Asker(
                    user: 77,
                    confinedAs: id,
                    process: "test",
                    processID: process,
                    session: session
                ),
                fingerObstacle: obstacle,
                seatObstacle: seat,
                obstacle: lock,
                confinement: isUnknown ? nil : confinement
            )
            state.refusal = refusal
            state.isUnknown = isUnknown
        }
    }

    /// Lets callers ask for the person at a process that they pass.
    func set(agent: Caller?) { state.withLock { $0.agent = agent } }

    /// The processes that callers have passed.
    var agents: [Int32] { state.withLock(\.agents) }

    func caller(_ client: ServiceClientIdentity, askingFor agent: PeerProcess) async -> Caller? {
        state.withLock { state in
            state.agents.append(agent.pid)
            return state.agent
        }
    }

    func caller(_ client: ServiceClientIdentity, relaying program: PeerProcess?) async -> Caller {
        state.withLock { state in
            state.agents.append(program?.pid ?? 0)
            return state.agent ?? state.caller
        }
    }

    var asked: [GuardedAction] { state.withLock(\.asked) }
    var records: [CallRecord] { state.withLock(\.records) }

    var placesLookedAt: Int { state.withLock(\.placesLookedAt) }

    func caller(_ client: ServiceClientIdentity) async -> Caller {
        state.withLock { state in
            state.placesLookedAt += 1
            return state.caller
        }
    }

    func asker(_ client: ServiceClientIdentity) async -> Asker? { state.withLock(\.caller.asker) }

    func confinement(of client: ServiceClientIdentity) throws(ServiceRefusal) -> Confinement {
        guard let known = state.withLock(\.caller.confinement) else {
            throw ServiceRefusal("io.whorl.Connection.NotProven")
        }
        return known
    }

    func authorize(
        _ action: GuardedAction,
        _ client: ServiceClientIdentity,
        mayAsk: Bool
    ) async throws(ServiceError) {
        let refusal = state.withLock { state in
            state.asked.append(action)
            return state.refusal
        }
        if let refusal { throw refusal }
    }

    func record(_ record: CallRecord, of asker: Asker?) { state.withLock { $0.records.append(record) } }
}

/// A service with rules in this process, and a program that speaks to it over a socket.
final class RuledMachine: ServiceTransport {
    let rules = ScriptedRules()
    let root: InProcessRoot
    private let tpm: SoftwareTPM
    private let server: ServiceServer

    /// Makes a machine.
    ///
    /// - Parameters:
    ///   - reader: The script of the mock reader.
    ///   - enrolled: The finger that is enrolled, if any.
    ///   - asker: The user whose programs ask for logins, if there are any.
    ///   - finger: A finger that the list of fingers still has, and that was removed.
    /// - Throws: where the simulated TPM cannot be started.
    init(
        reader: String = "mock:then=match",
        enrolled: Finger? = nil,
        loginsOf asker: UInt32? = nil,
        sawBefore finger: Finger? = nil
    ) async throws {
        let tpm = try SoftwareTPM()
        let root = InProcessRoot(on: tpm, reader: reader)
        if let enrolled { try await root.enroll(enrolled) }
        self.tpm = tpm
        self.root = root
        var host = ServiceHost(
            rules: rules,
            services: { _ throws(ServiceRefusal) in
                finger.map { root.services.listing($0) } ?? root.services
            },
            keychain: { _, groups throws(ServiceRefusal) in root.keychain(in: groups) }
        )
        if let asker {
            host.logins = LoginAccess(
                asker: asker,
                owner: { _ in root.services },
                obstacle: { _ in nil },
                place: nil,
                enroll: { (asked, observer) async throws(ServiceError) in
                    try await root.enrollFirst(asked.finger, asked.request, observer)
                }
            )
        }
        server = ServiceServer(host.router(version: "test"))
    }

    deinit { server.stop() }

    func connect() throws(SystemCallError) -> Descriptor {
        let (own, other) = try UnixSocket.pair()
        try server.serve(other)
        return own
    }

    /// The services as a program of this name asks for them.
    func services(as application: String = "org.example.app") -> Services {
        .remote(profile: "ada", application: ApplicationID(rawValue: application), over: self)
    }
}

/// Services whose list of fingers is one of a moment before.
private struct EarlierFingers: ServiceAsker {
    let now: Services
    let before: [EnrolledFinger]

    func answer<Asked: ServiceOperation>(
        _ operation: Asked,
        _ prompter: Prompter?
    ) async throws(ServiceError) -> Asked.Reply {
        if let earlier = Valued(before) as? Asked.Reply, operation is ListFingers { return earlier }
        return try await now.answer(operation, prompter)
    }

    func sealedItem(encoded: Data) throws(ServiceError) -> SealedItem {
        try now.sealedItem(encoded: encoded)
    }
}

extension Services {
    /// Returns the services with a list of fingers that still has this one.
    fileprivate func listing(_ finger: Finger) -> Services {
        let before = EnrolledFinger(
            id: PrintID(),
            finger: finger,
            label: nil,
            reader: ReaderID(rawValue: "mock"),
            readerName: "mock",
            storage: .host,
            enrolledAt: Date(timeIntervalSince1970: 0),
            lastMatchedAt: nil,
            access: .pretended
        )
        return Services(
            profile: profile,
            application: application,
            asker: EarlierFingers(now: self, before: [before]),
            keychain: keychain,
            readers: readers
        )
    }
}

private let remote = ServiceError(.notInteractive, message: "This session is at another machine.")
private let consent = ConsentRequest(application: ApplicationID(rawValue: "org.example.app"))

@Suite("Rules for the programs that call")
struct CallerRuleTests {
    private func request(_ policy: Policy) -> EvaluationRequest {
        var request = EvaluationRequest("unlock")
        request.policy = policy
        return request
    }

    @Test func `no first finger is enrolled, and no reader tested, behind the lock`() async throws {
        let machine = try await RuledMachine()
        let services = machine.services()
        let presenter = ScriptedPresenter()
        let locked = ServiceError(.notInteractive, message: "The session is locked.")
        machine.rules.set(lock: locked)
        let enrolling = await #expect(throws: ServiceError.self) {
            try await services.ask(EnrollFinger(NewFinger(.leftThumb), consent), presenter: presenter) { _ in
            }
        }
        let testing = await #expect(throws: ServiceError.self) {
            try await services.ask(ExerciseReader(ReaderExercise(), consent), presenter: presenter) { _ in }
        }
        #expect(enrolling == locked && testing == locked)
        #expect(machine.rules.asked.isEmpty && presenter.prompts.isEmpty)
        #expect(try await services.ask(ListFingers()).isEmpty)
    }

    // Docs/Security.md: S2
    @Test func `a finger is not asked for where the caller's place forbids it, and nothing is shown`()
        async throws
    {
        let machine = try await RuledMachine(enrolled: .leftThumb)
        let services = machine.services()
        let presenter = ScriptedPresenter()
        machine.rules.set(obstacle: remote)
        for policy in Policy.allCases {
            let refused = await #expect(throws: ServiceError.self) {
                try await services.evaluate(request(policy), presenter: presenter)
            }
            #expect(refused?.code == .notInteractive && refused?.message == remote.message)
            let preflight = await services.preflight(policy, for: services.application)
            #expect(preflight.obstacle?.code == .biometryNotAvailable && preflight.hasReader)
            #expect(preflight.obstacle?.message == remote.message)
        }
        #expect(presenter.prompts.isEmpty)
        machine.rules.set()
        #expect(await services.preflight(.biometrics, for: services.application).canEvaluate)
        #expect(
            try await services.evaluate(request(.biometrics), presenter: presenter).method == .biometry
        )
    }

    // Docs/Security.md: S2
    @Test func `no earlier touch stands in where the caller's place forbids one`() async throws {
        let machine = try await RuledMachine(enrolled: .leftThumb)
        let services = machine.services()
        var reusing = request(.biometrics)
        reusing.reuse = .seconds(60)
        _ = try await services.evaluate(reusing, presenter: ScriptedPresenter())
        #expect(try await services.evaluate(reusing, presenter: ScriptedPresenter()).isReused)
        machine.rules.set(obstacle: remote)
        await #expect(throws: ServiceError.self) {
            try await services.evaluate(reusing, presenter: ScriptedPresenter())
        }
    }

    @Test func `an earlier touch opens no item, since it was meant for another program`() async throws {
        let machine = try await RuledMachine(reader: "mock:then=no-match,match", enrolled: .leftThumb)
        let services = machine.services()
        let item = try await services.seal(secret("s"), access: .biometryAny, applicationPassword: nil)
        var reusing = request(.biometrics)
        reusing.reuse = .seconds(60)
        _ = try await services.evaluate(reusing, presenter: ScriptedPresenter())
        let thief = machine.services(as: "org.example.thief")
        let presenter = ScriptedPresenter()
        let refused = await #expect(throws: ServiceError.self) {
            try await thief.secret(in: .sealed(item), ReleaseRequest(reusing), presenter: presenter)
        }
        #expect(refused?.code == .authenticationFailed)
        #expect(presenter.prompts.count == 1)
    }

    @Test func `the passcode alone is taken where the caller's place forbids a finger`() async throws {
        let machine = try await RuledMachine()
        let services = machine.services()
        try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: OwnerSession()))
        machine.rules.set(obstacle: remote)
        let presenter = ScriptedPresenter(typing: ["2468 hunter"])
        let evaluation = try await services.evaluate(request(.deviceOwner), presenter: presenter)
        #expect(evaluation.method == .passcode && presenter.prompts.map(\.parts) == [.passcode])
        #expect(await services.preflight(.deviceOwner, for: services.application).canEvaluate)
        #expect(await !services.preflight(.biometrics, for: services.application).canEvaluate)
    }

    // Docs/Security.md: C10
    @Test func `a confined program that shows its prompt itself gets no passcode compared`() async throws {
        let machine = try await RuledMachine()
        let services = machine.services()
        try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: OwnerSession()))
        var alone = request(.deviceOwner)
        alone.takesPasscodeAlone = true
        let asked = alone
        for isUnknown in [false, true] {
            machine.rules.set(.id("snap.vault.app"), isUnknown: isUnknown)
            let presenter = ScriptedPresenter(typing: ["2468 hunter"])
            await #expect(throws: ServiceError.self) {
                try await services.evaluate(asked, presenter: presenter)
            }
            #expect(presenter.prompts.isEmpty)
        }
        machine.rules.set()
        #expect(try await services.ask(ReadLog(limit: 9)).allSatisfy { $0.event != .passcode })
        let presenter = ScriptedPresenter(typing: ["2468 hunter"])
        #expect(try await services.evaluate(asked, presenter: presenter).method == .passcode)
    }

    @Test func `an item opens by the passcode and never by a finger from such a place`() async throws {
        let machine = try await RuledMachine(enrolled: .leftThumb)
        let services = machine.services()
        let item = try await services.seal(secret("s"), access: .biometryAny, applicationPassword: nil)
        machine.rules.set(obstacle: remote)
        let presenter = ScriptedPresenter()
        let refused = await #expect(throws: ServiceError.self) {
            try await services.ask(
                UseItem(.sealed(item), for: .secret, ReleaseRequest(request(.deviceOwner))),
                presenter: presenter
            )
        }
        #expect(refused?.code == .notInteractive && presenter.prompts.isEmpty)
    }

    @Test func `fingers are neither enrolled nor removed by touch from such a place`() async throws {
        let machine = try await RuledMachine(enrolled: .leftThumb)
        let services = machine.services()
        machine.rules.set(obstacle: remote)
        let presenter = ScriptedPresenter()
        await #expect(throws: remote) {
            try await services.ask(
                EnrollFinger(NewFinger(.rightIndex), consent),
                presenter: presenter,
                observer: { _ in }
            )
        }
        await #expect(throws: remote) {
            try await services.ask(RemoveFingers(.all, force: false, consent), presenter: presenter)
        }
        #expect(presenter.prompts.isEmpty)
        #expect(try await services.ask(ListFingers()).count == 1)
    }

    @Test func `the prompt and the log tell which program asks`() async throws {
        let machine = try await RuledMachine(enrolled: .leftThumb)
        let services = machine.services()
        let presenter = ScriptedPresenter()
        machine.rules.set(.id("snap.vault.app"))
        _ = try await services.evaluate(request(.biometrics), presenter: presenter)
        let asker = Asker(user: 77, confinedAs: "snap.vault.app", process: "test", processID: 1234)
        #expect(presenter.prompts.first?.asker == asker)
        // The name in the message is another one.
        #expect(presenter.prompts.first?.title == "snap.vault.app")
        let line = try #require(try await services.ask(ReadLog(limit: 1)).first)
        #expect(line.asker == asker && line.application == "snap.vault.app" && line.outcome == "matched")
        let record = try #require(machine.rules.records.last)
        #expect(record.outcome == "done" && record.purpose == "unlock")
        #expect(record.method == EvaluatePolicy.name)
        machine.rules.set(.id("snap.other.app"))
        #expect(try await services.ask(ReadLog(limit: 9)).isEmpty)
    }

    @Test func `a failed call is recorded with its code`() async throws {
        let machine = try await RuledMachine(reader: "mock:hang*9", enrolled: .leftThumb)
        await #expect(throws: ServiceError.self) {
            try await machine.services().evaluate(
                request(.biometrics),
                presenter: ScriptedPresenter(pressing: .cancel)
            )
        }
        #expect(machine.rules.records.last?.outcome == "userCancel")
    }
}

@Suite("The system's rules for first fingers and passcodes")
struct FirstOwnerTests {
    private let no = ServiceError(.notPermitted, message: "The rules say no.")

    // Docs/Security.md: S9
    @Test func `a first finger is enrolled only where the system's rules allow it`() async throws {
        let machine = try await RuledMachine(reader: "mock:touch right-index*20")
        let services = machine.services()
        func enroll(_ finger: Finger) async throws(ServiceError) {
            _ = try await services.ask(
                EnrollFinger(NewFinger(finger), consent),
                presenter: ScriptedPresenter(),
                observer: { _ in }
            )
        }
        machine.rules.set(refusal: no)
        await #expect(throws: no) { try await enroll(.rightIndex) }
        #expect(try await services.ask(ListFingers()).isEmpty)
        machine.rules.set()
        try await enroll(.rightIndex)
        #expect(machine.rules.asked == [.enroll, .enroll])
        // A second one needs the owner's touch, and the rules are not asked.
        _ = try? await enroll(.leftIndex)
        #expect(machine.rules.asked == [.enroll, .enroll])
    }

    // Docs/Security.md: C18
    @Test func `the rules are asked by the state that the enrollment finds, not by an earlier look`()
        async throws
    {
        // The service that looked before the enrollment still saw a finger; it has been removed since.
        let machine = try await RuledMachine(reader: "mock:touch right-index*20", sawBefore: .leftThumb)
        machine.rules.set(refusal: no)
        await #expect(throws: no) {
            try await machine.services().ask(
                EnrollFinger(NewFinger(.rightIndex), consent),
                presenter: ScriptedPresenter(),
                observer: { _ in }
            )
        }
        #expect(machine.rules.asked == [.enroll])
        #expect(try await machine.root.services.ask(ListFingers()).isEmpty)
    }

    // Docs/Security.md: S9
    @Test func `a first passcode is set only where the system's rules allow it`() async throws {
        let machine = try await RuledMachine()
        let services = machine.services()
        machine.rules.set(refusal: no)
        await #expect(throws: no) {
            try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: OwnerSession()))
        }
        #expect(try await !services.ask(IsPasscodeSet()))
        machine.rules.set()
        try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: OwnerSession()))
        #expect(
            try await services.ask(IsPasscodeSet()) && machine.rules.asked == [.setPasscode, .setPasscode]
        )
    }

    // Docs/Security.md: C3b
    @Test func `the rules are asked by the fingers that the setting of a passcode finds`() async throws {
        // The service that looked before still saw a finger; it has been removed since.
        let machine = try await RuledMachine(sawBefore: .leftThumb)
        let services = machine.services()
        machine.rules.set(refusal: no)
        await #expect(throws: no) {
            try await services.ask(SetPasscode(secret("2468 hunter"), consent, shown: OwnerSession()))
        }
        #expect(machine.rules.asked == [.setPasscode])
        #expect(try await !services.ask(IsPasscodeSet()))
    }

    // Docs/Security.md: S9
    @Test func `all items are deleted only where the system's rules allow it`() async throws {
        let machine = try await RuledMachine()
        let services = machine.services()
        let id = ItemID(.secret, try ItemName("wifi"), of: "ada")
        _ = try await services.ask(
            AddItem(id, MakeItem(.secret(secret("s")), access: .biometryAny, applicationPassword: nil))
        )
        machine.rules.set(refusal: no)
        await #expect(throws: no) {
            try await services.ask(ResetVault(withoutChip: false))
        }
        #expect(try await services.ask(ListItems()).count == 1)
        machine.rules.set()
        _ = try await services.ask(ResetVault(withoutChip: false))
        #expect(try await services.ask(ListItems()).isEmpty)
    }
}
