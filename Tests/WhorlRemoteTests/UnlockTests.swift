// SPDX-License-Identifier: Apache-2.0

import Testing
import WhorlFingerprint
import WhorlIPC
import WhorlService

@testable import WhorlRemote

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
