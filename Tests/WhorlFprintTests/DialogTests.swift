// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import WhorlFprint

/// Rights that need a person, who answers when the test says so.
private final class SlowRights: ClientRights {
    private let state = Mutex<(asked: [FprintAction], waiting: [CheckedContinuation<Bool, Never>])>(([], []))

    var asked: [FprintAction] { state.withLock(\.asked) }

    func user(of client: String) async -> String? { client.hasPrefix(":2.") ? "eve" : "ada" }
    func answer(_ action: FprintAction, to client: String) async -> RightsAnswer { .person }
    func isBehindLock(_ client: String) async -> Bool { false }
    func session(of client: String) async throws(FprintError) -> String? { nil }

    func ask(_ action: FprintAction, for client: String) async -> Bool {
        await withCheckedContinuation { answer in
            state.withLock { state in
                state.asked.append(action)
                state.waiting.append(answer)
            }
        }
    }

    /// Waits until so many dialogs are open.
    func waitForDialogs(_ count: Int) async { while asked.count < count { await Task.yield() } }

    func answerAll(_ answer: Bool) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume(returning: answer) }
    }
}

// Docs/Security.md: C20
@Suite struct `A dialog about a client` {
    @Test func `is one for all calls that begin the same thing`() async throws {
        let rights = SlowRights()
        let dialogs = ClientDialogs(rights)
        let calls = (0..<50).map { _ in Task { await dialogs.ask(.changeFingers, for: ":1.7") } }
        await rights.waitForDialogs(1)
        // All calls wait at the one dialog, or come after it and open no other while it is there.
        #expect(await !dialogs.ask(.enroll, for: ":1.7"))
        #expect(rights.asked == [.changeFingers])
        // Another client has its own.
        let other = Task { await dialogs.ask(.changeFingers, for: ":1.8") }
        await rights.waitForDialogs(2)
        while await dialogs.waiting(for: ":1.7") < calls.count { await Task.yield() }
        rights.answerAll(true)
        for call in calls { #expect(await call.value) }
        #expect(await other.value)
        #expect(rights.asked == [.changeFingers, .changeFingers])
    }

    // Docs/Security.md: C13g
    @Test func `is refused where four others of the same user are open`() async throws {
        let rights = SlowRights()
        let dialogs = ClientDialogs(rights)
        let open = (0..<4).map { number in Task { await dialogs.ask(.enroll, for: ":2.\(number)") } }
        await rights.waitForDialogs(4)
        #expect(await !dialogs.ask(.enroll, for: ":2.4"))
        let other = Task { await dialogs.ask(.enroll, for: ":1.7") }
        await rights.waitForDialogs(5)
        rights.answerAll(true)
        for call in open + [other] { #expect(await call.value) }
    }

    @Test func `is opened again after it was answered`() async throws {
        let rights = SlowRights()
        let dialogs = ClientDialogs(rights)
        for answer in [false, true] {
            let call = Task { await dialogs.ask(.enroll, for: ":1.7") }
            await rights.waitForDialogs(answer ? 2 : 1)
            rights.answerAll(answer)
            #expect(await call.value == answer)
        }
    }
}
