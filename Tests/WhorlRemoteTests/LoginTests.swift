// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import CWhorlSocket
import FacesOverSocket
import Foundation
import Glibc
import WhorlLibfprint
import WhorlGLib
import SoftwareMachine
import SoftwareTPM
import Testing
import WhorlIPC
import WhorlService
import WhorlSystem

@testable import WhorlRemote

/// A service of a whole system in this process, with accounts that can log in by a finger.
final class LoginMachine: Sendable {
    let rules = ScriptedRules()
    let root: InProcessRoot
    private let tpm: SoftwareTPM
    private let server: ServiceServer
    let host: ServiceHost

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - reader: The script of the reader.
    ///   - enrolled: The only enrolled finger.
    ///   - asker: The user who may ask, in place of root.
    ///   - countsTogether: Whether the failed tries of all logins count together.
    /// - Throws: The error of a TPM or a store that cannot be made.
    init(
        _ reader: String,
        enrolled: Finger? = .leftThumb,
        asker: UInt32 = getuid(),
        countsTogether: Bool = false
    )
        async throws
    {
        let tpm = try SoftwareTPM()
        let root = InProcessRoot(on: tpm, reader: reader)
        if let enrolled { try await root.enroll(enrolled) }
        self.tpm = tpm
        self.root = root
        var host = ServiceHost(
            rules: rules,
            services: { _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") },
            keychain: { _, _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") }
        )
        let owner = root.services
        let keyring = root.loginKeyring
        host.logins = LoginAccess(
            asker: asker,
            owner: { _ in owner },
            obstacle: { _ in await root.obstacleWithoutState() },
            keyring: { _ in keyring },
            place: countsTogether ? root.loginPlace : nil,
            unlock: { (_, asker) async throws(ServiceError) in try await root.unlock(by: asker) }
        )
        self.host = host
        server = ServiceServer(host.router(version: "test"))
    }

    deinit { server.stop() }

    /// A connection as a login has it.
    func connection() throws -> ServiceConnection {
        let (own, other) = try UnixSocket.pair()
        try server.serve(other)
        return try ServiceConnection(own)
    }

    /// Asks for a touch, and returns the messages and how it ends.
    func verify(
        _ asking: LoginInterface.Verify = .sudo(),
        beside descriptors: [Descriptor] = []
    ) async throws -> (messages: [String], outcome: Result<Bool?, ServiceCallError>) {
        let connection = try connection()
        var messages: [String] = []
        do throws(ServiceCallError) {
            let reply: CallReply<LoginInterface.Answer> = try await connection.call(
                LoginInterface.Verify.name,
                asking,
                descriptors: descriptors
            ) { messages += $0.message.map { [$0] } ?? [] }
            return (messages, .success(reply.parameters.matched))
        } catch {
            return (messages, .failure(error))
        }
    }

    /// Asks for a touch that is refused, and returns the reason, and whether anything was shown before it.
    func refusal(
        _ asking: LoginInterface.Verify = .sudo(),
        beside descriptors: [Descriptor] = []
    ) async throws -> (reason: LoginReason?, messages: [String]) {
        let (messages, outcome) = try await verify(asking, beside: descriptors)
        guard case .failure(.refused(let refusal)) = outcome, refusal.name == LoginRefused.name else {
            Issue.record("\(outcome)")
            return (nil, messages)
        }
        return (refusal.failure(as: LoginRefused.self)?.reason, messages)
    }
}

extension LoginInterface.Verify {
    fileprivate static func sudo(
        service: String = "sudo",
        terminal: String? = "/dev/pts/7",
        remoteHost: String? = nil,
        within limit: Duration = .seconds(30),
        mostTries: Int? = nil
    ) -> Self {
        Self(
            user: 1000,
            service: service,
            terminal: terminal,
            remoteHost: remoteHost,
            timeoutMilliseconds: limit.components.seconds * 1000,
            mostTries: mostTries
        )
    }
}

@Suite("Logins")
struct LoginTests {
    // Docs/Security.md: C9a
    @Test func `a login in a locked session serves lockers alone, and a lock ends the others`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        machine.rules.set(lock: .sessionLocked, session: "2")
        for service in ["sudo", "su", "doas", "polkit-1", "swaylockx", "kdesu"] {
            let refused = try await machine.refusal(.sudo(service: service))
            #expect(refused.reason == .noSession && refused.messages.isEmpty, "\(service)")
        }
        for service in ["swaylock", "kde", "kde-fingerprint", "gdm-password"] {
            #expect(try await machine.verify(.sudo(service: service)).outcome.get() == true, "\(service)")
        }
        let waiting = try await LoginMachine("mock:hang*9")
        waiting.rules.set(session: "2")
        let sudo = Task { try await waiting.refusal() }
        // The lock refuses a call that comes after it as well.
        try await Task.sleep(for: .milliseconds(300))
        waiting.host.lock("2")
        #expect(try await sudo.value.reason == .noSession)
    }

    @Test func `a matching finger is the only yes, and the person is told what to do`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        let (messages, outcome) = try await machine.verify()
        #expect(try outcome.get() == true)
        #expect(!messages.isEmpty && !messages.contains { $0.hasPrefix("Matched") })
        let record = machine.rules.records.last
        #expect(record?.application == "sudo" && record?.outcome == "done")
        #expect(record?.purpose == "log in as user 1000 on /dev/pts/7")
    }

    // Docs/Security.md: S48
    @Test func `a user who is not the one that may ask is refused before the reader is asked`() async throws {
        let machine = try await LoginMachine("mock:then=match", asker: getuid() + 1)
        let (messages, outcome) = try await machine.verify()
        #expect(throws: ServiceCallError.refused(ServiceRefusal(LoginRefused.rootAlone))) {
            try outcome.get()
        }
        #expect(messages.isEmpty && machine.rules.records.isEmpty)
    }

    @Test func `a service without accounts does not have the interface`() async throws {
        let host = ServiceHost(
            services: { _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") },
            keychain: { _, _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") }
        )
        #expect(!host.router(version: "test").methods.contains(LoginInterface.Verify.name))
    }

    // Docs/Security.md: S45
    @Test func `a person at another machine is refused at once, and so is one in a session elsewhere`()
        async throws
    {
        let machine = try await LoginMachine("mock:then=match")
        for host in ["192.0.2.7", "example.org", ":0", " "] {
            let refused = try await machine.refusal(.sudo(remoteHost: host))
            #expect(refused.reason == .remote && refused.messages.isEmpty)
        }
        machine.rules.set(obstacle: ServiceError(.notInteractive, message: "elsewhere"))
        let refused = try await machine.refusal()
        #expect(refused.reason == .noSession && refused.messages.isEmpty)
        machine.rules.set(session: "1")
        for host in ["", "localhost"] {
            #expect(try await machine.verify(.sudo(remoteHost: host)).outcome.get() == true)
        }
    }

    // Docs/Security.md: S44
    @Test func `a server that names this machine outside any session asks for no touch`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        var asking = LoginInterface.Verify.sudo(remoteHost: "localhost")
        asking.service = "cups"
        let refused = try await machine.refusal(asking)
        #expect(refused.reason == .remote && refused.messages.isEmpty)
        #expect(try await machine.verify().outcome.get() == true)
    }

    // Docs/Security.md: S44
    @Test(arguments: [
        ("login", nil), ("openvpn", nil), ("smtp", nil), ("cups", "cups"), ("sshd", "ssh"),
        ("dovecot", "dovecot"),
        ("gdmx", nil), ("login", ""), ("login", ":"),
    ])
    func `a server that names no place at this machine asks for no touch outside a session`(
        service: String,
        terminal: String?
    ) async throws {
        let machine = try await LoginMachine("mock:then=match")
        var asking = LoginInterface.Verify.sudo(terminal: terminal)
        asking.service = service
        let refused = try await machine.refusal(asking)
        #expect(refused.reason == .noSession && refused.messages.isEmpty)
    }

    @Test(arguments: [
        ("login", "tty1"), ("login", "/dev/tty1"), ("login", "console"), ("su", "pts/3"), ("lightdm", ":0"),
        ("gdm-password", nil), ("sddm", nil), ("greetd", nil),
    ])
    func `a login at this machine's screen is asked outside a session`(
        service: String,
        terminal: String?
    ) async throws {
        let machine = try await LoginMachine("mock:then=match")
        var asking = LoginInterface.Verify.sudo(terminal: terminal)
        asking.service = service
        #expect(try await machine.verify(asking).outcome.get() == true)
    }

    @Test func `polkit's helper is answered in a session alone`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        var asking = LoginInterface.Verify.sudo()
        asking.service = "polkit-1"
        let refused = try await machine.refusal(asking)
        #expect(refused.reason == .noSession && refused.messages.isEmpty)
        machine.rules.set(session: "1")
        #expect(try await machine.verify(asking).outcome.get() == true)
    }

    /// A call of polkit's helper, beside which its agent's process lies.
    private static func polkit(service: String = "polkit-1", agent: Int? = 0) -> LoginInterface.Verify {
        var asking = LoginInterface.Verify.sudo(service: service, terminal: nil)
        asking.agent = agent
        return asking
    }

    private static let atSeat = Caller(asker: Asker(user: 0, process: "polkit-agent-he", session: "2"))

    private func handle(_ pid: Int32 = getpid()) throws -> Descriptor {
        let number = whorl_pidfd_open(pid)
        try #require(number >= 0)
        return Descriptor(owning: number)
    }

    @Test func `polkit's helper outside any session is answered in the session of its agent`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        machine.rules.set(agent: Self.atSeat)
        let (messages, outcome) = try await machine.verify(Self.polkit(), beside: [handle()])
        #expect(try outcome.get() == true && !messages.isEmpty && machine.rules.agents == [getpid()])
        // The place is the agent's, whatever it is.
        for elsewhere in [
            Caller(asker: Self.atSeat.asker, fingerObstacle: ServiceError(.notInteractive)),
            Caller(asker: Self.atSeat.asker, obstacle: .sessionLocked),
        ] {
            machine.rules.set(agent: elsewhere)
            let refused = try await machine.refusal(Self.polkit(), beside: [handle()])
            #expect(refused.reason == .noSession && refused.messages.isEmpty)
        }
    }

    // Docs/Security.md: S46
    @Test func `polkit's helper is refused where its agent is not certain`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        // The rules do not believe the caller.
        let refused = try await machine.refusal(Self.polkit(), beside: [handle()])
        #expect(
            refused.reason == .noSession && refused.messages.isEmpty && machine.rules.agents == [getpid()]
        )
        machine.rules.set(agent: Self.atSeat)
        // It waits for its input, so that it is there when its descriptor is taken.
        let (child, input) = (Process(), Pipe())
        child.executableURL = URL(filePath: "/bin/cat")
        child.standardInput = input
        try child.run()
        let ended = try handle(child.processIdentifier)
        try input.fileHandleForWriting.close()
        child.waitUntilExit()
        for (agent, beside) in [
            (nil, [try handle()]), (1, [try handle()]), (-1, [try handle()]), (0, []), (0, [ended]),
            (0, [try SecretDescriptor.make([1, 2, 3])]),
            (0, [Descriptor(owning: open("/dev/null", O_RDONLY))]),
            (1, [Descriptor(owning: open("/dev/null", O_RDONLY)), try handle()]),
        ] as [(Int?, [Descriptor])] {
            let refused = try await machine.refusal(Self.polkit(agent: agent), beside: beside)
            #expect(refused.reason == .noSession && refused.messages.isEmpty, "\(String(describing: agent))")
        }
        #expect(machine.rules.agents == [getpid()])
    }

    @Test func `no other service asks for the person at another process`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        machine.rules.set(agent: Self.atSeat)
        for service in ["polkit-1x", "polkit", "sudo", "login", "smtp", ""] {
            let refused = try await machine.refusal(Self.polkit(service: service), beside: [handle()])
            #expect(refused.reason == .noSession && refused.messages.isEmpty, "\(service)")
        }
        #expect(machine.rules.agents.isEmpty)
    }

    // Docs/Security.md: S46
    @Test func `a lock of the agent's session ends the request, and a touch after the agent's end is none`()
        async throws
    {
        let locked = try await LoginMachine("mock:hang*9")
        locked.rules.set(agent: Self.atSeat)
        let waiting = Task { try await locked.refusal(Self.polkit(), beside: [handle()]) }
        while locked.rules.agents.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        try await Task.sleep(for: .milliseconds(300))
        locked.host.lock("2")
        #expect(try await waiting.value.reason == .noSession)

        let machine = try await LoginMachine("mock:delay:2s,match")
        machine.rules.set(agent: Self.atSeat)
        let child = Process()
        child.executableURL = URL(filePath: "/bin/sleep")
        child.arguments = ["60"]
        try child.run()
        let agent = try handle(child.processIdentifier)
        let asking = Task { try await machine.refusal(Self.polkit(), beside: [agent]) }
        while machine.rules.agents.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        kill(child.processIdentifier, SIGKILL)
        child.waitUntilExit()
        #expect(try await asking.value.reason == .interrupted)
        #expect(machine.rules.records.last?.outcome == "systemCancel")
    }

    @Test func `a reader that is away and a user without fingers are refused at once`() async throws {
        let away = try await LoginMachine("mock:connected=no,match", enrolled: nil).refusal()
        #expect(away.reason == .noReader && away.messages.isEmpty)
        let without = try await LoginMachine("mock:then=match", enrolled: nil).refusal()
        #expect(without.reason == .noFingers && without.messages.isEmpty)
    }

    @Test
    func
        `of somebody without a finger is refused before the login manager is asked anything`()
        async throws
    {
        let machine = try await LoginMachine("mock:then=match", enrolled: nil)
        _ = try await machine.refusal()
        #expect(machine.rules.placesLookedAt == 0)
        #expect(machine.rules.records.map(\.outcome) == ["biometryNotEnrolled"])
    }

    @Test func `three other fingers are no match, and five lock the user out`() async throws {
        let machine = try await LoginMachine("mock:then=no-match")
        #expect(try await machine.refusal().reason == .notMatched)
        #expect(try await machine.refusal().reason == .lockedOut)
        let locked = try await machine.refusal()
        #expect(locked.reason == .lockedOut && locked.messages.isEmpty)
        #expect(
            machine.rules.records.map(\.outcome) == [
                "authenticationFailed", "biometryLockout", "biometryLockout",
            ]
        )
    }

    @Test func `one try may be asked for, and is charged`() async throws {
        let machine = try await LoginMachine("mock:then=no-match")
        for _ in 1...4 { #expect(try await machine.refusal(.sudo(mostTries: 1)).reason == .notMatched) }
        #expect(try await machine.refusal(.sudo(mostTries: 1)).reason == .lockedOut)
    }

    @Test func `more tries than three are not to be had, and fewer than one neither`() async throws {
        let many = try await LoginMachine("mock:then=match,no-match*3")
        #expect(try await many.refusal(.sudo(mostTries: 100)).reason == .notMatched)
        let none = try await LoginMachine("mock:then=match")
        #expect(try await none.verify(.sudo(mostTries: -1)).outcome.get() == true)
    }

    @Test func `a touch that does not come in time is no match`() async throws {
        let machine = try await LoginMachine("mock:hang")
        #expect(try await machine.refusal(.sudo(within: .seconds(1))).reason == .timedOut)
    }

    @Test func `a caller that takes no messages is refused where the touch fails`()
        async throws
    {
        let machine = try await LoginMachine("mock:then=no-match")
        let connection = try machine.connection()
        await #expect(throws: ServiceCallError.self) {
            let _: CallReply<LoginInterface.Answer> = try await connection.call(
                LoginInterface.Verify.name,
                LoginInterface.Verify.sudo()
            )
        }
    }

    @Test func `hanging up cancels the request, and frees the reader`() async throws {
        let machine = try await LoginMachine("mock:then=match,hang")
        let connection = try machine.connection()
        let (shown, sink) = AsyncStream.makeStream(of: Void.self)
        let asking = Task {
            let _: CallReply<LoginInterface.Answer>? = try? await connection.call(
                LoginInterface.Verify.name,
                LoginInterface.Verify.sudo()
            ) { _ in sink.yield() }
        }
        for await _ in shown { break }
        asking.cancel()
        await asking.value
        #expect(try await machine.verify().outcome.get() == true)
        #expect(machine.rules.records.map(\.outcome) == ["appCancel", "done"])
    }

    @Test func `a reader at which another one is asked is busy before the time limit ends`()
        async throws
    {
        let machine = try await LoginMachine("mock:hang*2")
        let connection = try machine.connection()
        let (shown, sink) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            let _: CallReply<LoginInterface.Answer>? = try? await connection.call(
                LoginInterface.Verify.name,
                LoginInterface.Verify.sudo()
            ) { _ in sink.yield() }
        }
        for await _ in shown { break }
        let begin = ContinuousClock.now
        #expect(try await machine.refusal(.sudo(within: .seconds(300))).reason == .busy)
        #expect(ContinuousClock.now - begin < .seconds(150))
        first.cancel()
        await first.value
    }

    @Test func `a shut lid has a reason of its own`() throws {
        let shut = try #require(
            ReaderReachability.obstacle(to: .builtIn, under: Lid(isShut: true, isDocked: false))
        )
        #expect(LoginReason(shut) == .lidShut)
        #expect(LoginReason(ServiceError(.biometryNotAvailable)) == .noReader)
    }

    @Test func `the description names every reason`() throws {
        let text = try #require(InterfaceText.all.first { $0.name == "io.whorl.Login" }).text
        for reason in LoginReason.allCases { #expect(text.contains(reason.rawValue)) }
    }
}

/// The question which of a few people is there, asked over a socket.
@Suite("Identifying over a socket")
struct IdentifyingTests {
    private let request = EvaluationRequest(
        policy: .biometrics,
        purpose: .yes,
        reason: "check in",
        application: ApplicationID(rawValue: "org.example.counter")
    )

    private func accounts(
        _ root: InProcessRoot,
        asker: UInt32 = getuid(),
        people: Int = 5
    ) throws -> (RemoteAccounts, ServiceServer) {
        var host = ServiceHost(
            services: { _ throws(ServiceRefusal) in root.services },
            keychain: { _, _ throws(ServiceRefusal) in throw ServiceRefusal("io.whorl.NotYours") }
        )
        var rules = GroupRules()
        rules.mostPeople = people
        host.logins = LoginAccess(
            asker: asker,
            owner: { _ in root.services },
            obstacle: { _ in await root.obstacleWithoutState() },
            place: nil,
            identify: { [rules] users, request, presenter async throws(ServiceError) in
                try await root.identify(users.map { ($0, root) }, rules, request, presenter)
            }
        )
        let server = ServiceServer(host.router(version: "test"))
        return (RemoteAccounts(over: HostTransport(server: server)), server)
    }

    @Test func `the person, the finger and the chance come back, and the prompt is shown`() async throws {
        let tpm = try SoftwareTPM()
        let root = InProcessRoot(on: tpm)
        try await root.enroll(.leftThumb)
        let (accounts, server) = try accounts(root)
        defer { server.stop() }
        let presenter = ScriptedPresenter()
        let person = try await accounts.identify(among: [1001], request, presenter: presenter)
        #expect(person.user == 1001 && person.finger == .leftThumb && person.strangerOneIn == 1737)
        #expect(presenter.prompts.map(\.reason) == ["check in"])
    }

    @Test func `others than root are refused, and so are more people than are allowed`() async throws {
        let tpm = try SoftwareTPM()
        let root = InProcessRoot(on: tpm)
        try await root.enroll(.leftThumb)
        let presenter = ScriptedPresenter()
        let (foreign, first) = try accounts(root, asker: getuid() + 1)
        defer { first.stop() }
        await #expect(throws: ServiceError.self) {
            try await foreign.identify(among: [1001], request, presenter: presenter)
        }
        let (few, second) = try accounts(root, people: 1)
        defer { second.stop() }
        let error = await #expect(throws: ServiceError.self) {
            try await few.identify(among: [1001, 1002], request, presenter: presenter)
        }
        #expect(error?.code == .invalidContext && presenter.prompts.isEmpty)
    }
}

@Suite("The way back")
struct UnlockTests {
    private static func greeter(_ tries: Int? = nil) -> LoginInterface.Verify {
        LoginInterface.Verify(
            user: 1000,
            service: "greetd",
            terminal: "/dev/tty7",
            remoteHost: nil,
            timeoutMilliseconds: 30_000,
            mostTries: tries
        )
    }

    private func unlock(_ machine: LoginMachine) async throws -> Result<Bool, ServiceCallError> {
        let connection = try machine.connection()
        do throws(ServiceCallError) {
            let reply: CallReply<Valued<Bool>> = try await connection.call(
                LoginInterface.Unlock.name,
                Valued<UInt32>(1000)
            )
            return .success(reply.parameters.value)
        } catch {
            return .failure(error)
        }
    }

    // Docs/Security.md: K2
    @Test func `misses at a greeter make it rest before the person is locked out, and the reason says which`()
        async throws
    {
        let machine = try await LoginMachine("mock:then=match,no-match*5", countsTogether: true)
        #expect(try await machine.refusal(Self.greeter()).reason == .notMatched)
        let (reason, messages) = try await machine.refusal(Self.greeter())
        #expect(reason == .resting && messages.last == "Not recognized.")
        // No finger is asked for meanwhile.
        let again = try await machine.refusal(Self.greeter())
        #expect(again.reason == .resting && again.messages.isEmpty)
        // In a session, the person is the session's, and the place is another.
        machine.rules.set(session: "3")
        let (_, outcome) = try await machine.verify(Self.greeter())
        guard case .failure(.refused(let refusal)) = outcome else {
            return #expect(try outcome.get() == true)
        }
        #expect(refusal.failure(as: LoginRefused.self)?.reason != .resting)
    }

    // Docs/Security.md: K2
    @Test func `a match at a greeter ends the row of misses there`() async throws {
        let machine = try await LoginMachine(
            "mock:then=match,no-match*2,match,no-match*3",
            countsTogether: true
        )
        #expect(try await machine.refusal(Self.greeter(2)).reason == .notMatched)
        #expect(try await machine.verify(Self.greeter()).outcome.get() == true)
        #expect(try await machine.refusal(Self.greeter()).reason == .notMatched)
        #expect(try await machine.verify(Self.greeter()).outcome.get() == true)
    }

    @Test func `an operator whom polkit allows it unlocks a person and the greeter, and the journal has it`()
        async throws
    {
        let machine = try await LoginMachine("mock:then=match,no-match*5", countsTogether: true)
        for _ in 0..<2 { _ = try await machine.verify(Self.greeter()) }
        #expect(try await machine.refusal(Self.greeter()).reason == .resting)
        machine.rules.set(refusal: ServiceError(.notPermitted))
        await #expect(throws: ServiceCallError.self) { try await unlock(machine).get() }
        #expect(try await machine.refusal(Self.greeter()).reason == .resting)
        #expect(machine.rules.asked == [.unlock])
        machine.rules.set()
        #expect(try await unlock(machine).get() == false)
        let record = machine.rules.records.last
        #expect(record?.method == "io.whorl.Login.Unlock" && record?.outcome == "done")
        #expect(record?.purpose == "unlock the fingers of user 1000, and the logins at this machine")
    }

    @Test func `a confined program unlocks no one, and is not asked about`() async throws {
        let machine = try await LoginMachine("mock:then=match")
        machine.rules.set(.id("org.example.confined"))
        await #expect(throws: ServiceCallError.self) { try await unlock(machine).get() }
        #expect(machine.rules.asked.isEmpty)
    }
}
