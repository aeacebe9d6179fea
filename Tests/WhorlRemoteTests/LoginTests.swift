// SPDX-License-Identifier: Apache-2.0

import CWhorlSocket
import Foundation
import Glibc
import Testing
import WhorlGLib
import WhorlFingerprint
import WhorlIPC
import WhorlService
import WhorlSystem

@testable import WhorlRemote

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
