// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import Testing

@testable import LoginServer

struct `signing in over HTTP` {
    private func withServer(
        _ change: (inout LoginServer.Configuration) -> Void = { _ in },
        _ work: (TestServer, TestClient, TestDevice) async throws -> Void
    ) async throws {
        let server = try await TestServer(change)
        let device = try TestDevice("anna", "laptop")
        try await server.service.accounts.add(device.user, password: "correct horse")
        try await server.run { try await work(server, $0, device) }
    }

    private let anna = basic("anna", "correct horse")

    private func token(_ answer: TestClient.Answer) throws -> String {
        #expect(answer.status == 201, "\(answer.text)")
        return "Bearer \(try #require(answer.json["token"] as? String))"
    }

    @Test
    func `enabled with the password, then signed in with a touch, the device is listed as the current one`()
        async throws
    {
        try await withServer { server, client, device in
            let now = server.clock.seconds
            let enabled = try await device.enable(client, at: now, authorization: anna)
            #expect(enabled.status == 201, "\(enabled.text)")
            #expect(Set(enabled.json.keys) == ["user", "device", "keyID", "name", "enabledAt"])
            #expect(enabled.json["keyID"] as? String == (try device.keyID))
            let session = try await device.signIn(client, at: now)
            let token = try token(session)
            #expect(session.json["tokenType"] as? String == "Bearer")
            let expiresAt = try #require(session.json["expiresAt"] as? Int)
            #expect((now + 900...now + 960).contains(expiresAt))
            let list = try await client.send("GET", "/v1/devices", authorization: token)
            let devices = try #require(list.json["devices"] as? [[String: Any]])
            #expect(devices.count == 1)
            #expect(devices.first?["current"] as? Bool == true)
            #expect(devices.first?["name"] as? String == "Device laptop")
            #expect(devices.first?["lastUsedAt"] as? Int != nil)
        }
    }

    @Test func `a second device is enabled with the session of the first; revoking one leaves the other`()
        async throws
    {
        try await withServer { server, client, device in
            let now = server.clock.seconds
            try await device.enable(client, at: now, authorization: anna)
            let first = try token(
                try await device.signIn(client, at: now, service: TestServer.credentials)
            )
            let other = try TestDevice("anna", "a/b c?d")
            #expect(try await other.enable(client, at: now, authorization: first).status == 201)
            let second = try token(try await other.signIn(client, at: now))
            let path = "/v1/devices/a%2Fb%20c%3Fd"
            #expect(try await client.send("DELETE", path, authorization: first).status == 204)
            #expect(try await client.send("DELETE", path, authorization: first).code == "not_found")
            #expect(try await client.send("GET", "/v1/devices", authorization: second).code == "unauthorized")
            #expect(try await other.signIn(client, at: now).code == "unknown_key")
            #expect(try await device.signIn(client, at: now).status == 201)
            #expect(try await client.send("DELETE", "/v1/devices", authorization: anna).status == 204)
            #expect(try await client.send("GET", "/v1/devices", authorization: first).code == "unauthorized")
        }
    }

    @Test func `with the password besides, the token says so`() async throws {
        try await withServer { server, client, device in
            let now = server.clock.seconds
            try await device.enable(client, at: now, authorization: anna)
            try await DevicesCommand(store: server.store()).approve(
                device.name,
                of: device.user,
                keyID: try device.keyID
            )
            let answer = try await device.signIn(client, at: now, password: "correct horse")
            let payload = try #require(try token(answer).split(separator: ".").dropFirst().first)
            let claims = try #require(Base64URL.decode(String(payload)))
            let json = try #require(try JSONSerialization.jsonObject(with: claims) as? [String: Any])
            #expect(json["amr"] as? [String] == ["pop", "fpt", "pwd", "mfa"])
            #expect(try await device.signIn(client, at: now, password: "wrong").code == "unauthorized")
        }
    }

    @Test func `a token of a password names no device, and is over once the password is another`()
        async throws
    {
        try await withServer { server, client, device in
            let token = try token(try await client.send("POST", "/v1/account/sessions", authorization: anna))
            #expect(try await client.send("GET", "/v1/devices", authorization: token).status == 200)
            try await server.service.accounts.setPassword("another horse", of: device.user)
            #expect(try await client.send("GET", "/v1/devices", authorization: token).code == "unauthorized")
            let again = try await client.send("POST", "/v1/account/sessions", authorization: anna)
            #expect(again.code == "unauthorized")
        }
    }

    @Test func `a token is over after its time, to the second`() async throws {
        try await withServer({ $0.tokenLifetime = 60 }) { server, client, device in
            let now = server.clock.seconds
            try await device.enable(client, at: now, authorization: anna)
            let session = try await device.signIn(client, at: now)
            let token = try token(session)
            let end = try #require(session.json["expiresAt"] as? Int)
            server.clock.stop(at: Double(end) - 0.01)
            #expect(try await client.send("GET", "/v1/devices", authorization: token).status == 200)
            server.clock.stop(at: Double(end))
            #expect(try await client.send("GET", "/v1/devices", authorization: token).code == "unauthorized")
        }
    }

    @Test func `an unknown user and a wrong password get the same answer`() async throws {
        try await withServer { _, client, _ in
            let wrong = try await client.send(
                "POST",
                "/v1/account/sessions",
                authorization: basic("anna", "x")
            )
            let nobody = try await client.send(
                "POST",
                "/v1/account/sessions",
                authorization: basic("otto", "x")
            )
            #expect(wrong.body == nobody.body)
            #expect(wrong.status == 401)
            #expect(wrong.headers["www-authenticate"] == nobody.headers["www-authenticate"])
        }
    }

    /// 16 texts of 256 bytes, also such as JSON may write longer; and what fills an assertion.
    @Test(arguments: [("x", 256), ("/", 256), ("\"", 160)])
    func `the token of the longest assertion is good here`(character: String, count: Int) async throws {
        try await withServer { server, client, device in
            let now = server.clock.seconds
            try await device.enable(client, at: now, authorization: anna)
            let app = Dictionary(
                uniqueKeysWithValues: (0..<16).map { ("m\($0)", String(repeating: character, count: count)) }
            )
            let challenge = try await device.challenge(client, .login)
            let assertion = try device.assertion(challenge, .login, at: now, app: app)
            let token = try token(
                try await client.send("POST", "/v1/sessions", json: ["assertion": assertion])
            )
            let list = try await client.send("GET", "/v1/devices", authorization: token)
            #expect(list.status == 200, "\(list.text), \(assertion.utf8.count), \(token.utf8.count)")
        }
    }

    @Test func `a challenge outlives the server that gave it`() async throws {
        let server = try await TestServer()
        let device = try TestDevice("anna", "laptop")
        try await server.service.accounts.add(device.user, password: "correct horse")
        let now = server.clock.seconds
        let (challenge, token) = try await server.run { client in
            try await device.enable(client, at: now, authorization: anna)
            return (
                try await device.challenge(client, .login),
                try self.token(try await device.signIn(client, at: now))
            )
        }
        // The sign-in took another challenge, and not the first one's place.
        try await server.run { client in
            #expect(try await client.send("GET", "/v1/devices", authorization: token).status == 200)
            let assertion = try device.assertion(challenge, .login, at: now)
            for code in [nil, "challenge_unknown"] {
                let answer = try await client.send("POST", "/v1/sessions", json: ["assertion": assertion])
                #expect(answer.code == code)
            }
        }
        let fresh = try await server.run { try await device.challenge($0, .login) }
        try await server.run { client in
            let assertion = try device.assertion(fresh, .login, at: now)
            #expect(
                try await client.send("POST", "/v1/sessions", json: ["assertion": assertion]).status == 201
            )
            #expect(
                try await client.send("POST", "/v1/sessions", json: ["assertion": assertion]).code
                    == "challenge_unknown"
            )
        }
    }

    @Test(arguments: [true, false])
    func `other fingers than those that were enabled need a new start, unless the server allows them`(
        isAllowed: Bool
    ) async throws {
        try await withServer({ if isAllowed { $0.relyingParty.domainStatePolicy = .allow } }) {
            server,
            client,
            device in
            var device = device
            let now = server.clock.seconds
            try await device.enable(client, at: now, authorization: anna)
            device.domainState = Data(repeating: 8, count: 32)
            let answer = try await device.signIn(client, at: now)
            #expect(answer.status == (isAllowed ? 201 : 403))
            #expect(answer.code == (isAllowed ? nil : "reenable_required"))
        }
    }

    @Test func `sign-ins are counted by their result, requests by their route`() async throws {
        try await withServer { server, client, device in
            let now = server.clock.seconds
            try await device.enable(client, at: now, authorization: anna)
            _ = try await device.signIn(client, at: now)
            _ = try await client.send("POST", "/v1/sessions", json: ["assertion": "x"])
            _ = try await client.send("GET", "/no/such/path?token=secret")
            let text = try await client.send("GET", "/metrics").text
            #expect(text.contains(#"whorl_login_sessions_total{result="ok"} 1"#))
            #expect(text.contains(#"whorl_login_sessions_total{result="malformed"} 1"#))
            #expect(text.contains(#"{method="POST",route="/v1/sessions",status="201"} 1"#))
            #expect(text.contains(#"{method="GET",route="other",status="404"} 1"#))
            #expect(!text.contains("secret"))
        }
    }

    @Test func `the log has a line for each request, and nothing that is secret`() async throws {
        let server = try await TestServer()
        let device = try TestDevice("anna", "laptop")
        try await server.service.accounts.add(device.user, password: "correct horse")
        var secrets = ["correct horse", Data("anna:correct horse".utf8).base64EncodedString()]
        secrets += try await server.run { client in
            let now = server.clock.seconds
            try await device.enable(client, at: now, authorization: anna)
            let challenge = try await device.challenge(client, .login)
            let assertion = try device.assertion(challenge, .login, at: now)
            let answer = try await client.send("POST", "/v1/sessions", json: ["assertion": assertion])
            let token = String(try token(answer).dropFirst(7))
            _ = try await client.send(
                "GET",
                "/v1/devices?access_token=\(token)",
                authorization: "Bearer \(token)"
            )
            _ = try await client.send("GET", "/\(token)", authorization: "Bearer \(token)x")
            _ = try await client.send(
                "POST",
                "/v1/sessions",
                json: ["assertion": assertion, "password": "hunter2"]
            )
            _ = try await client.send(
                "POST",
                "/v1/sessions",
                headers: ["Content-Type: application/json"],
                body: Data("{hunter2".utf8)
            )
            _ = try await client.exchange([Data("GET /\(token) HTTP/9.9\r\nhunter2\r\n\r\n".utf8)])
            return [Base64URL.encode(challenge), "hunter2"]
                + [assertion, token].flatMap { $0.split(separator: ".").map(String.init) + [$0] }
        }
        let text = server.log.text
        #expect(text.contains(#""route":"/v1/sessions""#))
        for secret in secrets { #expect(!text.contains(secret), "\(secret)") }
    }
}
