// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

@testable import LoginServer

struct `what is revoked while a request is under way` {
    private let anna = basic("anna", "correct horse")

    private func server() async throws -> (TestServer, TestDevice, TestDevice) {
        // The request waits for what the test does meanwhile, also on a busy machine.
        let server = try await TestServer { $0.requestTimeout = 120 }
        let laptop = try TestDevice("anna", "laptop")
        try await server.service.accounts.add(laptop.user, password: "correct horse")
        return (server, laptop, try TestDevice("anna", "stranger"))
    }

    private func token(_ answer: TestClient.Answer) throws -> String {
        "Bearer \(try #require(answer.json["token"] as? String, "\(answer.text)"))"
    }

    /// What `device` asks for to be enabled.
    private func request(_ device: TestDevice, _ client: TestClient, at now: Int) async throws -> [String:
        String]
    {
        let challenge = try await device.challenge(client, .enable)
        return [
            "assertion": try device.assertion(challenge, .enable, at: now), "publicKey": device.publicKey,
            "name": "x",
        ]
    }

    // Docs/Security.md: L15
    @Test func `a body that is held back until its session is revoked enables nothing`() async throws {
        let (server, laptop, stranger) = try await server()
        let now = server.clock.seconds
        try await server.run { client in
            try await laptop.enable(client, at: now, authorization: anna)
            let token = try token(try await laptop.signIn(client, at: now, service: TestServer.credentials))
            let answer = try await client.hold(
                "POST",
                "/v1/devices",
                json: try await request(stranger, client, at: now),
                authorization: token
            ) {
                let revoked = try await client.send("DELETE", "/v1/devices", authorization: token)
                #expect(revoked.status == 204)
            }
            #expect(answer.code == "unauthorized", "\(answer.text)")
        }
        #expect(try await server.store().devices(of: laptop.user).isEmpty)
    }

    @Test(arguments: ["password", "token"])
    func `a body that is held back until its user is removed enables nothing`(shown: String) async throws {
        let (server, laptop, stranger) = try await server()
        let now = server.clock.seconds
        try await server.run { client in
            let session = try await client.send("POST", "/v1/account/sessions", authorization: anna)
            let request = try await request(stranger, client, at: now)
            let answer = try await client.hold(
                "POST",
                "/v1/devices",
                json: request,
                authorization: shown == "token" ? try token(session) : anna
            ) { try await AccountsCommand(store: try server.store()).remove(laptop.user) }
            #expect(answer.code == "unauthorized", "\(answer.text)")
        }
        #expect(try await server.store().devices(of: laptop.user).isEmpty)
    }

    // Docs/Security.md: L15
    @Test(arguments: [false, true])
    func `a device whose session was revoked is not registered, and gives itself no other key`(
        isItself: Bool
    ) async throws {
        let (server, laptop, stranger) = try await server()
        let now = server.clock.seconds
        let token = try await server.run { client in
            try await laptop.enable(client, at: now, authorization: anna)
            return try self.token(try await laptop.signIn(client, at: now, service: TestServer.credentials))
        }
        let store = try server.store()
        let entry = AuditEntry(at: now, event: .revoked, user: laptop.user, device: nil, address: "")
        let eventful = EventfulStore(
            base: store,
            before: { (call) async throws(RelyingPartyError) in
                if call == .register { _ = try await store.revoke(nil, audit: entry) }
            }
        )
        try await server.run(over: eventful) { client in
            let next = isItself ? try TestDevice("anna", "laptop") : stranger
            let answer = try await next.enable(client, at: now, authorization: token)
            #expect(answer.code == "unauthorized", "\(answer.text)")
        }
        #expect(try await store.devices(of: laptop.user).isEmpty)
    }

    // Docs/Security.md: L15
    @Test func `a device is not registered with a password that was changed during the request`() async throws
    {
        let (server, laptop, stranger) = try await server()
        let now = server.clock.seconds
        let accounts = server.service.accounts
        let eventful = EventfulStore(
            base: try server.store(),
            before: { (call) async throws(RelyingPartyError) in
                if call == .register { try? await accounts.setPassword("another horse", of: laptop.user) }
            }
        )
        try await server.run(over: eventful) { client in
            let answer = try await stranger.enable(client, at: now, authorization: anna)
            #expect(answer.code == "unauthorized", "\(answer.text)")
        }
        #expect(try await server.store().devices(of: laptop.user).isEmpty)
    }

    @Test func `a device gets another key with its own session`() async throws {
        let (server, laptop, _) = try await server()
        let now = server.clock.seconds
        try await server.run { client in
            try await laptop.enable(client, at: now, authorization: anna)
            let token = try token(try await laptop.signIn(client, at: now, service: TestServer.credentials))
            let again = try TestDevice("anna", "laptop")
            #expect(try await again.enable(client, at: now, authorization: token).status == 201)
            #expect(try await again.signIn(client, at: now).status == 201)
            #expect(try await client.send("GET", "/v1/devices", authorization: token).code == "unauthorized")
        }
    }

    // Docs/Security.md: L16
    @Test func `an old password gives no token of the one that is set while it is checked`() async throws {
        let (server, laptop, _) = try await server()
        let accounts = server.service.accounts
        let isFirst = Once()
        let eventful = EventfulStore(
            base: try server.store(),
            after: { (call) async throws(RelyingPartyError) in
                guard call == .document("account/anna"), isFirst.take() else { return }
                try? await accounts.setPassword("another horse", of: laptop.user)
            }
        )
        try await server.run(over: eventful) { client in
            let session = try await client.send("POST", "/v1/account/sessions", authorization: anna)
            #expect(session.status == 201, "the password was right when it was read")
            let token = try token(session)
            #expect(try await client.send("GET", "/v1/devices", authorization: token).code == "unauthorized")
        }
    }
}
