// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

@testable import LoginServer

struct `a user who is removed` {
    private let anna = basic("anna", "correct horse")

    private func server() async throws -> (TestServer, TestDevice) {
        let server = try await TestServer()
        let laptop = try TestDevice("anna", "laptop")
        try await server.service.accounts.add(laptop.user, password: "correct horse")
        _ = try await server.run { client in
            try await laptop.enable(client, at: server.clock.seconds, authorization: anna)
        }
        return (server, laptop)
    }

    /// A store that fails once, before or after it did its work.
    private func failing(
        _ call: EventfulStore.Call,
        isDone: Bool,
        _ base: any RelyingPartyStore
    ) -> EventfulStore {
        let isFirst = Once()
        let event: EventfulStore.Event = { (each) async throws(RelyingPartyError) in
            if each == call, isFirst.take() { throw RelyingPartyError(.store, cause: "of the test") }
        }
        return isDone ? EventfulStore(base: base, after: event) : EventfulStore(base: base, before: event)
    }

    // Docs/Security.md: L17
    @Test(
        arguments: [.revoke, .setDocument("account/anna")] as [EventfulStore.Call],
        [false, true]
    )
    func `is gone with all devices after the second try, wherever the first one failed`(
        call: EventfulStore.Call,
        isDone: Bool
    ) async throws {
        let (server, laptop) = try await server()
        let command = AccountsCommand(store: failing(call, isDone: isDone, try server.store()))
        await #expect(throws: RelyingPartyError.self) { try await command.remove(laptop.user) }
        // Where all was done but nobody heard of it, there is nothing left to remove.
        try? await command.remove(laptop.user)
        #expect(try await server.store().devices(of: laptop.user).isEmpty)
        #expect(try await command.all().isEmpty)
        #expect(try await server.service.accounts.credential(of: laptop.user) == nil)
        await #expect(throws: ServerError.self) { try await command.remove(laptop.user) }
    }

    @Test func `signs in no more, nor do tokens count, though the devices are still there`() async throws {
        let (server, laptop) = try await server()
        let now = server.clock.seconds
        try await server.run { client in
            let session = try await laptop.signIn(client, at: now)
            let token = "Bearer \(try #require(session.json["token"] as? String))"
            let command = AccountsCommand(store: failing(.revoke, isDone: false, try server.store()))
            await #expect(throws: RelyingPartyError.self) { try await command.remove(laptop.user) }
            #expect(try await laptop.signIn(client, at: now).code == "unknown_key")
            #expect(try await client.send("GET", "/v1/devices", authorization: token).code == "unauthorized")
        }
    }

    // Docs/Security.md: L17
    @Test func `leaves no device to the next user of that name`() async throws {
        let (server, laptop) = try await server()
        let command = AccountsCommand(store: failing(.revoke, isDone: false, try server.store()))
        await #expect(throws: RelyingPartyError.self) { try await command.remove(laptop.user) }
        try await command.add(laptop.user, password: "another horse")
        try await server.run { client in
            let answer = try await laptop.signIn(client, at: server.clock.seconds)
            #expect(answer.code == "unknown_key")
        }
    }
}
