// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

@testable import LoginServer

struct `a session that its user ends` {
    private let anna = basic("anna", "correct horse")

    private func withDevice(
        _ work: (TestServer, TestClient, TestDevice, Int) async throws -> Void
    ) async throws {
        let server = try await TestServer()
        let laptop = try TestDevice("anna", "laptop")
        try await server.service.accounts.add(laptop.user, password: "correct horse")
        let now = server.clock.seconds
        try await server.run { client in
            try await laptop.enable(client, at: now, authorization: anna)
            try await work(server, client, laptop, now)
        }
    }

    private func token(_ answer: TestClient.Answer) throws -> String {
        "Bearer \(try #require(answer.json["token"] as? String, "\(answer.text)"))"
    }

    @Test func `is over at once, at every instance, and no other is`() async throws {
        try await withDevice { server, client, laptop, now in
            let (one, other) = (
                try token(try await laptop.signIn(client, at: now)),
                try token(try await laptop.signIn(client, at: now))
            )
            #expect(try await client.send("DELETE", "/v1/sessions/current", authorization: one).status == 204)
            for (method, path) in [
                ("GET", "/v1/devices"), ("GET", "/v1/sessions/current"), ("DELETE", "/v1/sessions/current"),
            ] {
                #expect(try await client.send(method, path, authorization: one).code == "unauthorized")
            }
            #expect(try await client.send("GET", "/v1/devices", authorization: other).status == 200)
            let claims = try #require(
                try await server.another().tokens.verify(String(one.dropFirst(7)), at: now)
            )
            let sender = try #require(Sender(claims, server.service.origin))
            #expect(try await !server.another().isStillGood(sender))
            let events = try await server.store().audit(of: laptop.user, atMost: 9).map(\.event)
            #expect(events.first == .sessionEnded)
            // It is forgotten once the token would be over anyhow.
            server.clock.pass(900 + 700)
            try await server.service.relyingParty.purge()
            let nonce = try #require(claims.nonce)
            #expect(try await !server.store().isUsed(nonce))
        }
    }

    @Test func `a service asks about the token that it was given, and hears of a revocation`() async throws {
        try await withDevice { server, client, laptop, now in
            let shop = "https://shop.example"
            let token = try token(try await laptop.signIn(client, at: now, service: shop))
            let answer = try await client.send("GET", "/v1/sessions/current", authorization: token)
            #expect(answer.status == 200)
            #expect(answer.json["audience"] as? String == shop)
            #expect(answer.json["user"] as? String == "anna")
            #expect(answer.json["device"] as? String == "laptop")
            let expiresAt = try #require(answer.json["expiresAt"] as? Int)
            #expect((now + 900...server.clock.seconds + 900).contains(expiresAt))
            // It still opens nothing else here.
            #expect(try await client.send("GET", "/v1/devices", authorization: token).code == "unauthorized")
            _ = try await server.service.relyingParty.revoke(laptop.name, of: laptop.user)
            let after = try await client.send("GET", "/v1/sessions/current", authorization: token)
            #expect(after.code == "unauthorized")
        }
    }

    @Test(arguments: ["", "Bearer x", basic("anna", "correct horse")])
    func `nothing but a token ends one`(authorization: String) async throws {
        try await withDevice { _, client, _, _ in
            let answer = try await client.send("DELETE", "/v1/sessions/current", authorization: authorization)
            #expect(answer.code == "unauthorized")
        }
    }
}
