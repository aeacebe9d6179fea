// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlIPC
import WhorlRemote
import WhorlService

@testable import WhorlCallers

@Suite struct `The system's rules for actions` {
    @Test func `are asked about the process that has proven itself, by its number and its start`()
        async throws
    {
        let authority = ScriptedAuthority()
        let callers = Callers(sessions: ScriptedSessions(), authority: authority)
        try await callers.authorize(.enroll, .thisProcess(uid: 1000), mayAsk: true)
        let asked = try #require(authority.asked.first)
        let subject = ActionSubject(
            pid: getpid(),
            startTime: try #require(ProcessFacts(pid: getpid()).startTime),
            uid: 1000
        )
        #expect(asked.action == .enroll && asked.subject == subject && asked.mayAsk)
    }

    // Docs/Security.md: S9
    @Test func `refuse a process without a proof, and are not asked`() async {
        let authority = ScriptedAuthority()
        let callers = Callers(sessions: ScriptedSessions(), authority: authority)
        let error = await #expect(throws: ServiceError.self) {
            try await callers.authorize(.enroll, .unproven(), mayAsk: true)
        }
        #expect(error?.code == .notPermitted)
        #expect(authority.asked.isEmpty)
    }

    @Test func `are not asked about root`() async throws {
        let authority = ScriptedAuthority(refusing: ServiceError(.notPermitted))
        let callers = Callers(sessions: ScriptedSessions(), authority: authority)
        try await callers.authorize(.reset, .thisProcess(uid: 0), mayAsk: true)
        #expect(authority.asked.isEmpty)
    }

    @Test func `refuse where they do not allow`() async {
        let authority = ScriptedAuthority(refusing: ServiceError(.notPermitted))
        let callers = Callers(sessions: ScriptedSessions(), authority: authority)
        for action in GuardedAction.allCases {
            await #expect(throws: ServiceError(.notPermitted)) {
                try await callers.authorize(action, .thisProcess(uid: 1000), mayAsk: false)
            }
        }
    }

    /// The file that `make install-service` installs has an action for each that is asked about, and the one of fprintd's
    /// clients.
    @Test func `are the actions of the installed policy`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let policy = try String(contentsOf: root.appending(path: "systemd/io.whorl.policy"), encoding: .utf8)
        let actions = policy.matches(of: /<action id="([^"]+)">/).map { String($0.1) }
        #expect(Set(actions) == Set(GuardedAction.allCases.map(\.rawValue) + ["io.whorl.change-fingers"]))
        // A person acts on what is the person's own; a lock is lifted by an administrator alone.
        #expect(policy.matches(of: /<allow_active>auth_self<\/allow_active>/).count == actions.count - 2)
        let unlocking = try #require(policy.firstMatch(of: /<action id="io.whorl.unlock">[\s\S]*?<\/action>/))
            .0
        #expect(unlocking.matches(of: />auth_admin</).count == 3)
        #expect(policy.matches(of: /<allow_any>auth_admin<\/allow_any>/).count == actions.count - 1)
        let enrolling = try #require(
            policy.firstMatch(of: /<action id="io.whorl.enroll-others">[\s\S]*?<\/action>/)
        ).0
        #expect(enrolling.contains("<allow_active>auth_admin_keep</allow_active>"))
        #expect(enrolling.matches(of: />no</).count == 2)
    }
}
