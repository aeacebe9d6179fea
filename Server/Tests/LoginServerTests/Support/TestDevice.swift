// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LoginAssertion
import Testing

/// A device with a key in software, which signs what it is told to.
struct TestDevice {
    let user: LoginName
    let name: LoginName
    var key = P256.Signing.PrivateKey()
    var domainState: Data? = Data(repeating: 7, count: 32)

    init(_ user: String, _ name: String) throws {
        self.user = try #require(LoginName(user))
        self.name = try #require(LoginName(name))
    }

    var publicKey: String { Base64URL.encode(key.publicKey.derRepresentation) }

    var keyID: String {
        get throws { try #require(LoginKey(der: key.publicKey.derRepresentation)).id }
    }

    /// Asks for a challenge.
    func challenge(_ client: TestClient, _ purpose: LoginClaims.Purpose) async throws -> Data {
        let answer = try await client.send(
            "POST",
            "/v1/challenges",
            json: ["user": user.text, "device": name.text, "purpose": purpose.rawValue]
        )
        #expect(answer.status == 201, "\(answer.text)")
        let text = try #require(answer.json["challenge"] as? String)
        return try #require(Base64URL.decode(text))
    }

    /// Signs an assertion.
    func assertion(
        _ challenge: Data,
        _ purpose: LoginClaims.Purpose,
        at time: Int,
        origin: String = TestServer.origin,
        method: LoginClaims.Method = .finger,
        app: [String: String] = [:],
        service: String? = nil
    ) throws -> String {
        let claims = LoginClaims(
            origin: try #require(LoginOrigin(origin)),
            user: user,
            device: name,
            keyID: try keyID,
            purpose: purpose,
            challenge: challenge,
            issuedAt: time,
            id: Data((0..<16).map { _ in UInt8.random(in: 0...255) }),
            domainState: domainState,
            method: method,
            app: app,
            service: service
        )
        let draft = AssertionDraft(try #require(claims))
        return draft.signed(try key.signature(for: draft.signingInput).rawRepresentation)
    }

    /// Makes its key known.
    @discardableResult
    func enable(_ client: TestClient, at time: Int, authorization: String) async throws -> TestClient.Answer {
        let assertion = try assertion(try await challenge(client, .enable), .enable, at: time)
        return try await client.send(
            "POST",
            "/v1/devices",
            json: ["assertion": assertion, "publicKey": publicKey, "name": "Device \(name.text)"],
            authorization: authorization
        )
    }

    /// Signs in; the token is for `service`, or for the server itself.
    func signIn(
        _ client: TestClient,
        at time: Int,
        password: String? = nil,
        service: String? = nil
    ) async throws -> TestClient.Answer {
        let challenge = try await challenge(client, .login)
        var json = ["assertion": try assertion(challenge, .login, at: time, service: service)]
        json["password"] = password
        return try await client.send("POST", "/v1/sessions", json: json)
    }
}

/// RFC 7617.
func basic(_ user: String, _ password: String) -> String {
    "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
}
