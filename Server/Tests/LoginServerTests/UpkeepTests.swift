// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

@testable import LoginServer

struct `a server that runs` {
    private let anna = basic("anna", "correct horse")

    private func server() async throws -> TestServer {
        let server = try await TestServer { $0.upkeepInterval = .milliseconds(20) }
        try await server.service.accounts.add(
            try #require(LoginName("anna")),
            password: "correct horse"
        )
        return server
    }

    /// Asks until the answer is as it is to be; the deadline is for a server that never does it.
    private func wait(_ client: TestClient, _ path: String, _ isMet: (TestClient.Answer) -> Bool) async throws
    {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let answer = try await client.send("GET", path)
            if isMet(answer) { return }
            try #require(ContinuousClock.now < deadline, "\(path): \(answer.text)")
        }
    }

    private func ids(_ answer: TestClient.Answer) -> [String] {
        (answer.json["keys"] as? [[String: Any]] ?? []).compactMap { $0["kid"] as? String }
    }

    private let jwks = "/.well-known/jwks.json"

    @Test func `publishes a new key, and drops all others where they are revoked`() async throws {
        let server = try await server()
        let keys = try KeysCommand(store: try server.store(), keyFile: server.configuration.keyFile)
        try await server.run { client in
            let session = try await client.send("POST", "/v1/account/sessions", authorization: anna)
            let token = "Bearer \(try #require(session.json["token"] as? String))"
            let first = ids(try await client.send("GET", jwks))
            try await keys.rotate(revoke: false)
            try await wait(client, jwks) { ids($0).count == 2 && ids($0).first == first.first }
            #expect(try await client.send("GET", "/v1/devices", authorization: token).status == 200)
            try await keys.rotate(revoke: true)
            try await wait(client, jwks) { ids($0).count == 1 && ids($0) != first }
            #expect(try await client.send("GET", "/v1/devices", authorization: token).code == "unauthorized")
        }
    }

    // Docs/Security.md: L24
    @Test func `calls no key unknown while its database is an empty one`() async throws {
        let server = try await server()
        let laptop = try TestDevice("anna", "laptop")
        let store = try server.store()
        try await server.run { client in
            let now = server.clock.seconds
            #expect(try await laptop.enable(client, at: now, authorization: anna).status == 201)
            let keys = try await store.document("token-keys")
            #expect(try await store.setDocument("token-keys", to: nil, ifWas: keys))
            _ = try await store.revoke(
                nil,
                audit: AuditEntry(at: now, event: .revoked, user: laptop.user, device: nil, address: "")
            )
            try await wait(client, "/readyz") { $0.status == 503 }
            #expect(try await laptop.signIn(client, at: now).code == "unavailable")
            #expect(try await store.document("token-keys") == nil)
        }
    }

    // Docs/Security.md: L25
    @Test func `does no more work with keys that were replaced together with the key file`() async throws {
        let server = try await server()
        let other = server.folder.appending(path: "new-keys").path
        try await server.run { client in
            let session = try await client.send("POST", "/v1/account/sessions", authorization: anna)
            let token = "Bearer \(try #require(session.json["token"] as? String))"
            #expect(try await client.send("GET", "/readyz").status == 200)
            try await KeysCommand(store: try server.store(), keyFile: other, makesKeyFile: true).rotate(
                revoke: true
            )
            try await wait(client, "/readyz") { $0.code == "unavailable" }
            for (method, path, authorization) in [
                ("GET", jwks, nil), ("GET", "/v1/devices", token), ("POST", "/v1/account/sessions", anna),
            ] {
                let answer = try await client.send(method, path, authorization: authorization)
                #expect(answer.code == "unavailable", "\(path)")
            }
            #expect(try await client.send("GET", "/healthz").status == 200)
        }
    }
}
