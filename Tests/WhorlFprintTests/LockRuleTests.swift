// SPDX-License-Identifier: Apache-2.0

import Testing
import WhorlCallers

@testable import WhorlFprint

/// A machine on which each process has this session.
private struct OneSession: LoginSessions {
    let session: Result<LoginSession?, LoginSessionsFault>

    func session(ofProcess pid: Int32) async throws(LoginSessionsFault) -> LoginSession? { try session.get() }
}

@Suite struct `A client of the bus behind a locked screen` {
    private func rule(_ session: Result<LoginSession?, LoginSessionsFault>) -> LockRule {
        LockRule(OneSession(session: session), hasEnded: { $0 == 43 })
    }

    private func session(isLocked: Bool) -> Result<LoginSession?, LoginSessionsFault> {
        .success(LoginSession(id: "2", user: 1000, seat: "seat0", isLocked: isLocked))
    }

    // Docs/Security.md: C9c
    @Test func `is refused, and served again after the lock`() async {
        #expect(await rule(session(isLocked: true)).refuses(user: 1000, process: 42))
        #expect(await !rule(session(isLocked: false)).refuses(user: 1000, process: 42))
    }

    // Docs/Security.md: C9c
    @Test func `is served if it is root's, as PAM's modules for lockers are`() async {
        #expect(await !rule(session(isLocked: true)).refuses(user: 0, process: 42))
    }

    @Test func `is refused where its session or its process cannot be told`() async {
        #expect(await rule(.failure(LoginSessionsFault("no answer"))).refuses(user: 1000, process: 42))
        #expect(await rule(session(isLocked: false)).refuses(user: 1000, process: nil))
        #expect(await rule(session(isLocked: false)).refuses(user: nil, process: nil))
        // Outside any session no screen is locked; polkit decides.
        #expect(await !rule(.success(nil)).refuses(user: 1000, process: 42))
    }

    // Docs/Security.md: C9c
    @Test func `is refused where a child goes on with the connection of a process that has ended`() async {
        #expect(await rule(.success(nil)).refuses(user: 1000, process: 43))
    }

    @Test func `loses its claim with its session, but for root's`() async throws {
        #expect(try await rule(session(isLocked: false)).session(user: 1000, process: 42) == "2")
        #expect(try await rule(session(isLocked: false)).session(user: 0, process: 42) == nil)
        #expect(try await rule(.success(nil)).session(user: 1000, process: 42) == nil)
        // Without an answer, a lock could not end the claim.
        await #expect(throws: LoginSessionsFault.self) {
            try await rule(.failure(LoginSessionsFault("no answer"))).session(user: 1000, process: 42)
        }
    }
}
