// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlCallers
import WhorlIPC
import WhorlRemote
import WhorlService

@Suite struct `The place of a caller` {
    private let owner = LoginSession(id: "1", user: 1000, seat: "seat0")

    private func obstacle(_ session: LoginSession, _ policy: SeatPolicy = .activeSeatOnly)
        -> ServiceError?
    {
        CallerPlace.session(session).obstacle(under: policy, isRoot: false)
    }

    @Test func `lets a finger be asked for in the session that the seat shows`() {
        #expect(obstacle(owner) == nil)
    }

    @Test func `lets no finger be asked for from another machine, and says why`() throws {
        var remote = owner
        remote.isRemote = true
        for policy in [SeatPolicy.activeSeatOnly, .localOnly] {
            let error = try #require(obstacle(remote, policy))
            #expect(error.code == .notInteractive)
            #expect(error.message.contains("remote session"))
        }
        #expect(obstacle(remote, .any) == nil)
    }

    @Test func `lets no finger be asked for behind another session, or without a seat`() {
        var hidden = owner
        hidden.isActive = false
        var seatless = owner
        seatless.seat = nil
        for session in [hidden, seatless] {
            #expect(obstacle(session)?.code == .notInteractive)
            #expect(obstacle(session, .localOnly) == nil)
        }
        #expect(obstacle(hidden)?.message != obstacle(seatless)?.message)
    }

    @Test(arguments: [
        CallerPlace.noSession, .unknownProcess, .unknownSession("no bus"),
    ]) func `lets no finger be asked for where it is not known, unless any place will do`(place: CallerPlace)
    {
        for policy in [SeatPolicy.activeSeatOnly, .localOnly] {
            #expect(place.obstacle(under: policy, isRoot: false)?.code == .notInteractive)
        }
        #expect(place.obstacle(under: .any, isRoot: false) == nil)
    }

    @Test func `is the machine itself for root outside any session, and the session's for root in one`() {
        #expect(CallerPlace.noSession.obstacle(under: .activeSeatOnly, isRoot: true) == nil)
        #expect(CallerPlace.unknownProcess.obstacle(under: .activeSeatOnly, isRoot: true) != nil)
        let remote = LoginSession(id: "2", user: 1000, isRemote: true)
        #expect(CallerPlace.session(remote).obstacle(under: .activeSeatOnly, isRoot: true) != nil)
    }

    // Docs/Security.md: C9a
    @Test func `that is locked lets nothing be asked for`() {
        var session = LoginSession(id: "2", user: 1000, seat: "seat0")
        #expect(CallerPlace.session(session).lock == nil && CallerPlace.noSession.lock == nil)
        session.isLocked = true
        #expect(CallerPlace.session(session).lock == .sessionLocked)
    }

    // Docs/Security.md: S2
    @Test func `is no session where that is another user's`() async throws {
        let other = ScriptedSessions(found: LoginSession(id: "7", user: 4242, seat: "seat0"))
        let caller = await Callers(sessions: other).caller(try .thisProcess(uid: 1000))
        #expect(caller.asker?.session == nil)
        #expect(caller.fingerObstacle?.message.contains("does not run in a login session") == true)
    }

    @Test func `is told with the process's name and unit, and the session`() async throws {
        let sessions = ScriptedSessions(found: LoginSession(id: "7", user: geteuid(), seat: "seat0"))
        let caller = await Callers(sessions: sessions).caller(try .thisProcess())
        let asker = try #require(caller.asker)
        #expect(asker.user == geteuid() && asker.session == "7" && asker.processID == getpid())
        let name = try String(contentsOfFile: "/proc/self/comm", encoding: .utf8)
        #expect(asker.process == name.trimmingCharacters(in: .newlines))
        #expect(caller.fingerObstacle == nil)
    }

    // Docs/Security.md: S7
    @Test func `has no name and no session without a proof, whatever the session of its number is`() async {
        let sessions = ScriptedSessions(found: LoginSession(id: "1", user: 1000, seat: "seat0"))
        let caller = await Callers(sessions: sessions).caller(.unproven())
        #expect(caller.asker == Asker(user: 1000))
        #expect(caller.fingerObstacle?.code == .notInteractive)
        #expect(caller.confinement == nil)
    }

    // Docs/Security.md: S45
    @Test func `is the machine's own place for what root has started, and not for what a user has`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        let own = folder.appending(path: "\(getpid())")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let callers = Callers(sessions: ScriptedSessions(), processes: folder.path)
        for (ids, isAllowed) in [
            ("Uid:\t0\t0\t0\t0", true), ("Uid:\t1000\t0\t0\t0", false), ("Uid:\tx\t0", false), ("", false),
        ] {
            let status = Data("Name:\tsu\n\(ids)\nGid:\t0\t0\t0\t0\n".utf8)
            try status.write(to: own.appending(path: "status"))
            let caller = await callers.caller(try .thisProcess(uid: 0))
            #expect((caller.fingerObstacle == nil) == isAllowed)
        }
    }
}
