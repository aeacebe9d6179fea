// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WhorlIPC
import WhorlService
import WhorlSystem

@testable import WhorlRemote

extension LoginMachine {
    /// Asks for a touch as a screen locker of the user does, and returns the messages and the result.
    func unlockScreen(
        _ service: String = "swaylock",
        within milliseconds: Int64 = 30_000
    ) async throws -> (messages: [String], outcome: Result<LoginInterface.Answer, ServiceCallError>) {
        let connection = try connection()
        var messages: [String] = []
        do throws(ServiceCallError) {
            let reply: CallReply<LoginInterface.Answer> = try await connection.call(
                LoginInterface.UnlockScreen.name,
                LoginInterface.UnlockScreen(
                    service: service,
                    timeoutMilliseconds: milliseconds,
                    mostTries: nil
                )
            ) { messages += $0.message.map { [$0] } ?? [] }
            return (messages, .success(reply.parameters))
        } catch {
            return (messages, .failure(error))
        }
    }

    /// Returns the reason for which a locker's request is refused, and whether anything was shown before.
    func unlockRefusal(
        _ service: String = "swaylock",
        within milliseconds: Int64 = 30_000
    ) async throws -> (reason: LoginReason?, messages: [String]) {
        let (messages, outcome) = try await unlockScreen(service, within: milliseconds)
        guard case .failure(.refused(let refusal)) = outcome else {
            Issue.record("\(outcome)")
            return (nil, messages)
        }
        return (refusal.failure(as: LoginRefused.self)?.reason, messages)
    }
}

// Docs/Security.md: S55
@Suite("Screen lockers that run as their user")
struct ScreenUnlockTests {
    private static let elsewhere = ServiceError(.notInteractive, message: "elsewhere")

    /// A machine whose callers are in the session of a seat, and are not those who may log others in.
    private func machine(_ reader: String) async throws -> LoginMachine {
        let machine = try await LoginMachine(reader, asker: getuid() + 1)
        machine.rules.set(session: "2")
        return machine
    }

    @Test func `a locker gets a yes about its own user in a locked session, and nothing else`() async throws {
        let machine = try await machine("mock:then=match")
        machine.rules.set(lock: .sessionLocked, session: "2")
        machine.host.lock("2")
        for service in ["swaylock", "kde-fingerprint", "omarchy-lock-fingerprint", "", "any"] {
            let (messages, outcome) = try await machine.unlockScreen(service)
            let answer = try outcome.get()
            #expect(answer.matched == true && answer.password == nil && answer.message == nil)
            #expect(!messages.isEmpty)
        }
        let record = machine.rules.records.last
        #expect(record?.application == "any" && record?.purpose == "screen lock, as user")
        #expect(record?.outcome == "done")
        // A login is still for those who may log others in.
        let refused = try await machine.verify().outcome
        #expect(throws: ServiceCallError.refused(ServiceRefusal(LoginRefused.rootAlone))) {
            try refused.get()
        }
    }

    @Test func `a locker outside the session of a seat is refused, whatever other programs may do`()
        async throws
    {
        let machine = try await machine("mock:then=match")
        machine.rules.set(seat: Self.elsewhere, session: "2")
        let refused = try await machine.unlockRefusal()
        #expect(refused.reason == .noSession && refused.messages.isEmpty)
        machine.rules.set(obstacle: Self.elsewhere, seat: Self.elsewhere)
        #expect(try await machine.unlockRefusal().messages.isEmpty)
    }

    @Test func `a sandboxed program asks for no touch as a locker`() async throws {
        let machine = try await machine("mock:then=match")
        for isUnknown in [false, true] {
            machine.rules.set(.id("org.example.Game"), isUnknown: isUnknown, session: "2")
            let (messages, outcome) = try await machine.unlockScreen()
            #expect(messages.isEmpty && (try? outcome.get()) == nil)
        }
    }

    @Test func `a wrong finger is no yes, and locks out like any other`() async throws {
        let machine = try await machine("mock:then=noMatch")
        #expect(try await machine.unlockRefusal().reason == .notMatched)
        #expect(try await machine.unlockRefusal().reason == .lockedOut)
        #expect(try await machine.unlockRefusal().messages.isEmpty)
    }

    @Test func `a touch for the screen unlocks nothing afterwards`() async throws {
        let machine = try await machine("mock:match,hang*9")
        #expect(try await machine.unlockScreen().outcome.get().matched == true)
        #expect(try await machine.unlockRefusal(within: 300).reason == .timedOut)
    }

    @Test func `a locker's prompt ends when its session is left, whatever the policy is`() async throws {
        let machine = try await machine("mock:hang*2")
        let locker = Task { try await machine.unlockRefusal() }
        // The prompt begins at some moment from now on.
        let leaving = Task {
            while !Task.isCancelled {
                machine.host.leave("3", endsCalls: false)
                machine.host.leave("2", endsCalls: false)
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        #expect(try await locker.value.reason == .noSession)
        leaving.cancel()
    }

    @Test func `a touch in a session that is left at the same moment is no yes`() async throws {
        let machine = try await machine("mock:delay:1s,match")
        let locker = Task { try await machine.unlockRefusal() }
        try await Task.sleep(for: .milliseconds(300))
        machine.rules.set(seat: Self.elsewhere, session: "2")
        #expect(try await locker.value.reason == .noSession)
    }

    @Test func `no later request of the session reuses a touch for the screen`() async throws {
        let machine = try await machine("mock:match,hang")
        #expect(try await machine.unlockScreen().outcome.get().matched == true)
        var request = EvaluationRequest("show the balance", session: OwnerSession())
        request.policy = .biometrics
        request.reuse = .seconds(300)
        request.timeout = .milliseconds(300)
        request.asker = Asker(user: getuid(), session: "2")
        request.stay = machine.host.stay(of: request.asker)
        #expect(request.stay != nil)
        await #expect(throws: ServiceError.self) {
            try await machine.root.services.evaluate(request, presenter: ScriptedPresenter())
        }
    }

    @Test func `a login ends a locker's prompt and gets the next touch`() async throws {
        let machine = try await LoginMachine("mock:delay:3s,match,match")
        machine.rules.set(session: "2")
        let locker = Task { try await machine.unlockRefusal() }
        try await Task.sleep(for: .milliseconds(400))
        #expect(try await machine.verify().outcome.get() == true)
        #expect(try await locker.value.reason == .interrupted)
    }
}
