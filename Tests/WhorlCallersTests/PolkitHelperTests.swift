// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlCallers
import WhorlRemote
import WhorlService

@testable import WhorlIPC

// Docs/Security.md: S46
/// Login sessions of processes, as a test says.
struct SessionsOfProcesses: LoginSessions {
    var found: [Int32: LoginSession] = [:]
    var isSilent = false

    func session(ofProcess pid: Int32) async throws(LoginSessionsFault) -> LoginSession? {
        if isSilent { throw LoginSessionsFault("no bus") }
        return found[pid]
    }
}

/// This process as polkit's helper, and a child as its agent, in a folder of processes that a test writes.
final class HelperAndAgent {
    static let unit =
        #"0::/system.slice/system-polkit\x2dagent\x2dhelper.slice/polkit-agent-helper@3-7-812_4711-1000.service"#
    static let session = LoginSession(id: "2", user: 1000, seat: "seat0")

    private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    private let child = Process()
    let agent: PeerProcess
    var sessions: SessionsOfProcesses

    init() throws {
        child.executableURL = URL(filePath: "/bin/sleep")
        child.arguments = ["60"]
        try child.run()
        let pid = child.processIdentifier
        agent = try #require(PeerProcess(challenging: PeerUser(uid: 1000, gid: 1000, pid: pid)))
        sessions = SessionsOfProcesses(found: [pid: Self.session])
        try write("cgroup", "\(Self.unit)\n")
        try write("status", Self.users(0))
        try write("comm", "polkit-agent-he\n")
        try write("status", Self.users(1000), of: pid)
        try write("comm", "pkttyagent\n", of: pid)
    }

    deinit {
        endAgent()
        // What is left lies in the folder for temporary files.
        try? FileManager.default.removeItem(at: folder)
    }

    static func users(_ user: UInt32) -> String { status(users: "\(user)\t\(user)\t\(user)\t\(user)") }

    /// The groups of an account, as the test's user database has them.
    @Sendable static func groups(_ user: UInt32) -> Set<UInt32>? { user == 1002 ? nil : [user, 27, 44] }

    static func status(
        users: String = "1000\t1000\t1000\t1000",
        group: String = "27\t27\t27\t27",
        groups: String = "27 44 ",
        permitted: String = "0000000000000000",
        effective: String = "0000000000000000"
    ) -> String {
        """
        Name:\tx
        Uid:\t\(users)
        Gid:\t\(group)
        Groups:\t\(groups)
        CapInh:\t0000000000000000
        CapPrm:\t\(permitted)
        CapEff:\t\(effective)
        CapBnd:\t000001ffffffffff

        """
    }

    func write(_ file: String, _ text: String, of pid: Int32 = getpid()) throws {
        let place = folder.appending(path: "\(pid)/\(file)")
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: place)
    }

    func endAgent() {
        guard child.isRunning else { return }
        kill(child.processIdentifier, SIGKILL)
        child.waitUntilExit()
    }

    /// Returns the agent's process, as a client whose request this process passes on.
    func relayed(_ program: PeerProcess?, for uid: UInt32 = 1000) async throws -> Caller {
        try await Callers(sessions: sessions, processes: folder.path, groups: Self.groups)
            .caller(.thisProcess(uid: uid), relaying: program)
    }

    func caller(_ client: ServiceClientIdentity? = nil, seats: SeatPolicy = .activeSeatOnly) async throws
        -> Caller?
    {
        try await Callers(sessions: sessions, seats: seats, processes: folder.path, groups: Self.groups)
            .caller(client ?? .thisProcess(uid: 0), askingFor: agent)
    }
}

@Suite struct `A caller that passes the process of polkit's agent` {
    @Test func `is polkit's helper, and has the agent's place`() async throws {
        let machine = try HelperAndAgent()
        let caller = try #require(await machine.caller())
        #expect(
            caller.asker
                == Asker(
                    user: 0,
                    process: "polkit-agent-he",
                    processID: getpid(),
                    unit: "polkit-agent-helper@3-7-812_4711-1000.service",
                    session: "2"
                )
        )
        #expect(caller.fingerObstacle == nil && caller.obstacle == nil)
    }

    @Test func `gets no touch where the agent's session would get none`() async throws {
        let machine = try HelperAndAgent()
        for change in [
            { $0.isRemote = true }, { $0.isActive = false }, { $0.seat = nil },
        ] as [(inout LoginSession) -> Void] {
            var session = HelperAndAgent.session
            change(&session)
            machine.sessions.found[machine.agent.pid] = session
            #expect(try await machine.caller()?.fingerObstacle?.code == .notInteractive)
        }
        var session = HelperAndAgent.session
        session.isLocked = true
        machine.sessions.found[machine.agent.pid] = session
        #expect(try await machine.caller()?.obstacle == .sessionLocked)
    }

    @Test(arguments: SeatPolicy.allCases)
    func `has no place but its own where the agent has no session, or the login manager is silent`(
        seats: SeatPolicy
    ) async throws {
        let machine = try HelperAndAgent()
        machine.sessions.isSilent = true
        #expect(try await machine.caller(seats: seats) == nil)
        machine.sessions = SessionsOfProcesses()
        #expect(try await machine.caller(seats: seats) == nil)
    }

    @Test(arguments: [
        "1001\t1001\t1001\t1001", "1000\t0\t0\t0", "1001\t1000\t1000\t1000", "1000\t1000\t1001\t1000",
        "1000\t1000\t1000\t1001", "1000\t1000\t1000", "0\t0\t0\t0", "1000\t1000\t1000\t1000\t0", "", "x",
    ])
    func `has no place but its own where the agent is not the session's user alone`(users: String)
        async throws
    {
        let machine = try HelperAndAgent()
        try machine.write("status", HelperAndAgent.status(users: users), of: machine.agent.pid)
        #expect(try await machine.caller() == nil)
    }

    @Test(arguments: [
        HelperAndAgent.status(groups: "27 44 999"), HelperAndAgent.status(groups: "0"),
        HelperAndAgent.status(groups: "27,44"), HelperAndAgent.status(group: "27\t0\t0\t0"),
        HelperAndAgent.status(group: "999\t999\t999\t999"), HelperAndAgent.status(group: "27"),
        HelperAndAgent.status(permitted: "0000000000000002"),
        HelperAndAgent.status(permitted: "0000000800200000", effective: "0000000800000000"),
        HelperAndAgent.status(effective: "000001ffffffffff"), HelperAndAgent.status(effective: "x"),
        HelperAndAgent.status(permitted: ""),
        "Uid:\t1000\t1000\t1000\t1000\nGid:\t27\t27\t27\t27\nGroups:\t27\n",
        "Uid:\t1000\t1000\t1000\t1000\nCapPrm:\t0\nCapEff:\t0\n",
    ])
    func `has no place but its own where the agent has more groups or capabilities than its user`(
        status: String
    ) async throws {
        let machine = try HelperAndAgent()
        try machine.write("status", status, of: machine.agent.pid)
        #expect(try await machine.caller() == nil)
    }

    @Test(arguments: [
        // systemd 254 and newer, for each session; and gnome-shell, whose file has CAP_SYS_NICE on some distributions.
        HelperAndAgent.status(permitted: "0000000800000000", effective: "0000000800000000"),
        HelperAndAgent.status(permitted: "0000000800800000", effective: "0000000000800000"),
        HelperAndAgent.status(group: "1000\t1000\t1000\t1000", groups: "27 44 1000 "),
        HelperAndAgent.status(groups: " "),
    ])
    func `has the agent's place where the agent has what programs of its user have`(status: String)
        async throws
    {
        let machine = try HelperAndAgent()
        try machine.write("status", status, of: machine.agent.pid)
        #expect(try await machine.caller() != nil)
    }

    @Test func `has no place but its own where the groups of the agent's user cannot be had`() async throws {
        let machine = try HelperAndAgent()
        try machine.write("status", HelperAndAgent.users(1002), of: machine.agent.pid)
        machine.sessions.found[machine.agent.pid]?.user = 1002
        #expect(try await machine.caller() == nil)
    }

    @Test func `has no place but its own where the agent is another user's, in the owner's session`()
        async throws
    {
        let machine = try HelperAndAgent()
        try machine.write("status", HelperAndAgent.users(1001), of: machine.agent.pid)
        #expect(try await machine.caller(seats: .any) == nil)
        // In a session of its own it is asked for there.
        machine.sessions.found[machine.agent.pid]?.user = 1001
        #expect(try await machine.caller()?.asker?.session == "2")
    }

    @Test func `has no place but its own where the agent is confined, or may be`() async throws {
        for (file, text) in [
            ("attr/current", "snap.vault.app (enforce)\n"),
            ("status", HelperAndAgent.status() + "NSpid:\t8\t2\n"),
        ] {
            let machine = try HelperAndAgent()
            try machine.write(file, text, of: machine.agent.pid)
            #expect(try await machine.caller() == nil, "\(file)")
        }
        let machine = try HelperAndAgent()
        try machine.write("attr/current", "unconfined\n", of: machine.agent.pid)
        #expect(try await machine.caller() != nil)
    }

    @Test func `has no place but its own once the agent has ended`() async throws {
        let machine = try HelperAndAgent()
        machine.endAgent()
        #expect(try await machine.caller() == nil)
    }

    // Docs/Security.md: S47
    @Test(arguments: [
        "0::/system.slice/cron.service", "0::/", "",
        // A unit of a user's own manager may have any name.
        #"0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-polkit\x2dagent\x2dhelper.slice/polkit-agent-helper@1.service"#,
        "0::/user.slice/user-1000.slice/user@1000.service/system.slice/polkit-agent-helper@1.service",
        "0::/user.slice/user-1000.slice/session-2.scope",
        #"0::/machine.slice/c.scope/system.slice/system-polkit\x2dagent\x2dhelper.slice/polkit-agent-helper@1.service"#,
        #"0::/system.slice/system-polkit\x2dagent\x2dhelper.slice/polkit-agent-helper@1.service/child"#,
        #"0::/system.slice/system-polkit\x2dagent\x2dhelper.slice/polkit-agent-helper@1.scope"#,
        #"0::/system.slice/system-polkit\x2dagent\x2dhelper.slice/other@1.service"#,
        #"0::/system.slice/system-polkit\x2dagent\x2dhelper.slice"#,
        #"1:name=systemd:/system.slice/system-polkit\x2dagent\x2dhelper.slice/polkit-agent-helper@1.service"#,
        #"system.slice/system-polkit\x2dagent\x2dhelper.slice/polkit-agent-helper@1.service"#,
    ])
    func `has no place but its own in another unit`(cgroup: String) async throws {
        let machine = try HelperAndAgent()
        try machine.write("cgroup", "\(cgroup)\n")
        #expect(try await machine.caller() == nil)
    }

    @Test func `has no place but its own without root's rights, a proof or a place outside all sessions`()
        async throws
    {
        let machine = try HelperAndAgent()
        #expect(try await machine.caller(.thisProcess(uid: 1000)) == nil)
        let unproven = ServiceClientIdentity(
            user: PeerUser(uid: 0, gid: 0, pid: getpid()),
            process: nil,
            label: .none
        )
        #expect(try await machine.caller(unproven) == nil)
        try machine.write("status", "Uid:\t1000\t0\t0\t0\n")
        #expect(try await machine.caller() == nil)
        try machine.write("status", HelperAndAgent.users(0))
        machine.sessions.found[getpid()] = HelperAndAgent.session
        #expect(try await machine.caller() == nil)
        machine.sessions.found[getpid()] = nil
        #expect(try await machine.caller() != nil)
    }
}
