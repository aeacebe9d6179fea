// SPDX-License-Identifier: Apache-2.0

import Testing
import WhorlCallers
import WhorlRemote
import WhorlService

@testable import WhorlIPC

// Docs/Security.md: S62
@Suite struct `A program whose request an SSH agent passes on` {
    @Test func `is named, and has its own place`() async throws {
        let machine = try HelperAndAgent()
        let caller = try await machine.relayed(machine.agent)
        #expect(caller.asker?.process == "pkttyagent" && caller.asker?.processID == machine.agent.pid)
        #expect(caller.asker?.user == 1000 && caller.asker?.session == "2")
        #expect(
            caller.fingerObstacle == nil && caller.obstacle == nil && caller.confinement == Confinement.none
        )
    }

    @Test func `gets no touch in a remote, inactive or locked session, and in none`() async throws {
        let machine = try HelperAndAgent()
        for change in [
            { $0.isRemote = true }, { $0.isActive = false }, { $0.seat = nil },
        ] as [(inout LoginSession) -> Void] {
            var session = HelperAndAgent.session
            change(&session)
            machine.sessions.found[machine.agent.pid] = session
            #expect(try await machine.relayed(machine.agent).fingerObstacle?.code == .notInteractive)
        }
        var session = HelperAndAgent.session
        session.isLocked = true
        machine.sessions.found[machine.agent.pid] = session
        #expect(try await machine.relayed(machine.agent).obstacle == .sessionLocked)
        machine.sessions = SessionsOfProcesses()
        #expect(try await machine.relayed(machine.agent).fingerObstacle?.code == .notInteractive)
    }

    @Test func `gets no touch in another user's session`() async throws {
        let machine = try HelperAndAgent()
        let caller = try await machine.relayed(machine.agent, for: 1001)
        #expect(caller.fingerObstacle?.code == .notInteractive && caller.asker?.session == nil)
    }

    @Test func `gets no touch after its end, or if the agent passes no process`() async throws {
        let machine = try HelperAndAgent()
        #expect(try await machine.relayed(nil).fingerObstacle?.code == .notInteractive)
        machine.endAgent()
        let caller = try await machine.relayed(machine.agent)
        #expect(caller.fingerObstacle?.code == .notInteractive && caller.asker?.process == nil)
    }

    @Test func `is named by its profile if it is confined`() async throws {
        let machine = try HelperAndAgent()
        try machine.write("attr/current", "snap.editor.app (enforce)\n", of: machine.agent.pid)
        let caller = try await machine.relayed(machine.agent)
        #expect(
            caller.confinement == Confinement(label: "snap.editor.app (enforce)")
                && caller.asker?.confinedAs != nil
        )
    }
}
