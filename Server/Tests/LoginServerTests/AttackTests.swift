// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LoginAssertion
import RelyingParty
import Testing

@testable import LoginServer

struct `attacks over HTTP` {
    private let anna = basic("anna", "correct horse")

    /// The time of a request is long enough for a busy machine, but for what waits for its end.
    private func withServer(
        timeout: Int = 60,
        _ work: (TestServer, TestClient, TestDevice) async throws -> Void
    ) async throws {
        let server = try await TestServer {
            $0.relyingParty.limits.perAddress = nil
            $0.requestTimeout = timeout
        }
        let device = try TestDevice("anna", "laptop")
        try await server.service.accounts.add(device.user, password: "correct horse")
        try await server.run { client in
            try await device.enable(client, at: server.clock.seconds, authorization: anna)
            try await work(server, client, device)
            // Whatever came before, the server still does its work.
            #expect(try await device.signIn(client, at: server.clock.seconds).status == 201)
        }
    }

    private func signIn(_ client: TestClient, _ assertion: String) async throws -> String? {
        let answer = try await client.send("POST", "/v1/sessions", json: ["assertion": assertion])
        #expect((400..<500).contains(answer.status), "\(answer.text)")
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(!answer.text.contains("token\":"))
        return answer.code
    }

    @Test func `an assertion is good once`() async throws {
        try await withServer { server, client, device in
            let now = server.clock.seconds
            let assertion = try device.assertion(try await device.challenge(client, .login), .login, at: now)
            #expect(
                try await client.send("POST", "/v1/sessions", json: ["assertion": assertion]).status == 201
            )
            #expect(try await signIn(client, assertion) == "challenge_unknown")
        }
    }

    @Test func `of a hundred uses at once one succeeds`() async throws {
        try await withServer { server, client, device in
            let challenge = try await device.challenge(client, .login)
            let assertion = try device.assertion(challenge, .login, at: server.clock.seconds)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await client.send("POST", "/v1/sessions", json: ["assertion": assertion]).status
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [201: 1, 401: 99])
        }
    }

    @Test func `what another server, purpose, device or key was meant for is refused`() async throws {
        try await withServer { server, client, device in
            let now = server.clock.seconds
            let elsewhere = try device.assertion(
                try await device.challenge(client, .login),
                .login,
                at: now,
                origin: "https://evil.example"
            )
            #expect(try await signIn(client, elsewhere) == "assertion_refused")
            let enabling = try device.assertion(try await device.challenge(client, .enable), .enable, at: now)
            #expect(try await signIn(client, enabling) != nil)
            let crossed = try device.assertion(try await device.challenge(client, .enable), .login, at: now)
            #expect(try await signIn(client, crossed) != nil)
            var stranger = device
            stranger.key = P256.Signing.PrivateKey()
            let foreign = try stranger.assertion(try await device.challenge(client, .login), .login, at: now)
            #expect(try await signIn(client, foreign) == "unknown_key")
            let late = try device.assertion(try await device.challenge(client, .login), .login, at: now - 91)
            #expect(try await signIn(client, late) == "assertion_refused")
            let ahead = server.clock.seconds + 40
            let early = try device.assertion(try await device.challenge(client, .login), .login, at: ahead)
            #expect(try await signIn(client, early) == "assertion_refused")
        }
    }

    @Test func `a changed header or signature, and algorithms that are none, are refused`() async throws {
        try await withServer { server, client, device in
            for make in Self.forgeries {
                let challenge = try await device.challenge(client, .login)
                let assertion = try device.assertion(challenge, .login, at: server.clock.seconds)
                let parts = assertion.split(separator: ".").map(String.init)
                #expect(try await signIn(client, make(parts, device)) != nil)
            }
        }
    }

    private static let forgeries: [@Sendable ([String], TestDevice) -> String] = [
        { parts, _ in "\(header(["alg": "none"])).\(parts[1])." },
        { parts, _ in "\(header(["alg": "none"])).\(parts[1]).\(parts[2])" },
        { parts, device in
            let input = "\(header(["alg": "HS256", "typ": "whorl-login+jwt"])).\(parts[1])"
            let key = SymmetricKey(data: device.key.publicKey.derRepresentation)
            let code = HMAC<SHA256>.authenticationCode(for: Data(input.utf8), using: key)
            return "\(input).\(Base64URL.encode(code))"
        },
        { parts, _ in
            "\(header(["alg": "ES256", "jku": "https://evil.example", "typ": "whorl-login+jwt"])).\(parts[1]).\(parts[2])"
        },
        { parts, _ in "\(parts[0]).\(parts[1]).\(Base64URL.encode(Data(count: 64)))" },
        { parts, _ in "\(parts[0]).\(parts[1]).\(parts[2].dropLast())" },
        { parts, _ in "\(parts[0]).\(parts[1])=.\(parts[2])" },
        { parts, _ in "\(parts[0]).\(Base64URL.encode(Data("{}".utf8))).\(parts[2])" },
    ]

    private static func header(_ members: [String: String]) -> String {
        Base64URL.encode((try? JSONEncoder().encode(members)) ?? Data())
    }

    @Test func `one key is no second user's`() async throws {
        try await withServer { server, client, device in
            var other = try TestDevice("otto", "phone")
            try await server.service.accounts.add(other.user, password: "otto's horse")
            other.key = device.key
            let now = server.clock.seconds
            let answer = try await other.enable(client, at: now, authorization: basic("otto", "otto's horse"))
            #expect(answer.code == "key_in_use")
            // Nor does somebody else's assertion enable a device of one's own.
            let stolen = try device.assertion(try await device.challenge(client, .enable), .enable, at: now)
            let taken = try await client.send(
                "POST",
                "/v1/devices",
                json: ["assertion": stolen, "publicKey": device.publicKey, "name": "x"],
                authorization: basic("otto", "otto's horse")
            )
            #expect((400..<500).contains(taken.status))
        }
    }

    @Test func `a body that is too large, deep, long or wrong is a problem, and nothing else`() async throws {
        try await withServer { _, client, _ in
            let json = ["Content-Type: application/json"]
            let bodies: [(Data, String)] = [
                (Data(#"{"assertion":"\#(String(repeating: "x", count: 20_000))"}"#.utf8), "too_large"),
                (Data(repeating: UInt8(ascii: "["), count: 16_384), "malformed"),
                (Data(#"{"assertion":\#(String(repeating: "9", count: 16_000))}"#.utf8), "malformed"),
                (Data(#"{"assertion":1e999999}"#.utf8), "malformed"),
                (Data([0xFF, 0xFE, 0x00]), "malformed"),
                (Data(#"{"assertion":"\#u{FFFD}"}"#.utf8), "malformed"),
                (Data(), "malformed"),
                (Data(#"{"assertion":"a","assertion":"b"}"#.utf8), "malformed"),
                (Data(#"{"assertion":"a","extra":"b"}"#.utf8), "malformed"),
            ]
            for path in ["/v1/sessions", "/v1/challenges"] {
                for (body, code) in bodies {
                    let answer = try await client.send("POST", path, headers: json, body: body)
                    #expect(
                        answer.code == code,
                        "\(path) \(String(decoding: body.prefix(40), as: UTF8.self))"
                    )
                }
                let other = try await client.send("POST", path, headers: [], body: Data("{}".utf8))
                #expect(other.code == "unsupported_media_type")
            }
        }
    }

    @Test func `a body without an end is cut off, whatever length it claims`() async throws {
        try await withServer(timeout: 2) { _, client, _ in
            let head = "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            let claimed = Data("\(head)Content-Length: 99999999\r\n\r\n".utf8)
            #expect(TestClient.Answer(try await client.exchange([claimed])).code == "too_large")
            let chunk = Data("4000\r\n\(String(repeating: "x", count: 0x4000))\r\n".utf8)
            let chunked = Data("\(head)Transfer-Encoding: chunked\r\n\r\n".utf8)
            let pieces = [chunked] + Array(repeating: chunk, count: 200)
            let answer = TestClient.Answer(try await client.exchange(pieces))
            #expect(answer.status == 0 || answer.code == "too_large")
        }
    }

    @Test(
        arguments: [
            "GET / HTTP/9.9\r\n\r\n", "\r\n\r\n\r\n", "GET\r\n\r\n", "\u{16}\u{3}\u{1}",
            "GET /\u{0} HTTP/1.1\r\n\r\n",
            "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
            "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
            "GET /healthz HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "x", count: 100_000))\r\n\r\n",
            "GET /healthz HTTP/1.1\r\n\(String(repeating: "X: y\r\n", count: 1_000))\r\n",
            "GET /%zz%00%ff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "GET /healthz HTTP/1.1\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n",
            "GET /healthz HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n", "GET /healthz HTTP/1.1\r\n folded\r\n\r\n",
        ]
    )
    func `what is no request is a problem or no answer at all`(text: String) async throws {
        try await withServer(timeout: 6) { _, client, _ in
            let answer = TestClient.Answer(try await client.exchange([Data(text.utf8)]))
            #expect(answer.status == 0 || (400..<500).contains(answer.status), "\(answer.text)")
            if answer.status != 0 { #expect(answer.headers["content-type"] == "application/problem+json") }
        }
    }

    @Test func `a request of HTTP/1.0 may name no host, as the checks of balancers`() async throws {
        try await withServer { _, client, _ in
            let request = Data("GET /healthz HTTP/1.0\r\nConnection: close\r\n\r\n".utf8)
            let answer = TestClient.Answer(try await client.exchange([request]))
            #expect(answer.status == 200)
        }
    }

    @Test func `a request that comes a byte at a time is cut off`() async throws {
        try await withServer(timeout: 2) { server, client, _ in
            let head = Array(
                "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n".utf8
            )
            let begin = ContinuousClock.now
            let slowHead = head.map { Data([$0]) }
            _ = try await client.exchange(slowHead, between: .milliseconds(200))
            #expect(ContinuousClock.now - begin < .seconds(12), "the head alone would take 15 seconds")
            let slowBody =
                [Data(head) + Data("Content-Length: 1000\r\n\r\n".utf8)]
                + Array(repeating: Data("x".utf8), count: 100)
            let middle = ContinuousClock.now
            _ = try await client.exchange(slowBody, between: .milliseconds(200))
            #expect(ContinuousClock.now - middle < .seconds(15), "the body alone would take 20 seconds")
            #expect(!server.log.text.contains(#""status":"5"#))
        }
    }

    @Test(
        arguments: [
            "", "Bearer", "Bearer ", "Bearer x", "Basic", "Basic !!!", "Basic YW5uYQ==", "Basic /w==",
            "Digest x",
            "Bearer eyJhbGciOiJub25lIn0.e30.", "Basic " + String(repeating: "QUFB", count: 2_000),
        ]
    )
    func `what is no password or token is not let in`(authorization: String) async throws {
        try await withServer { _, client, _ in
            for (method, path) in [
                ("GET", "/v1/devices"), ("DELETE", "/v1/devices"), ("POST", "/v1/account/sessions"),
            ] {
                let answer = try await client.send(method, path, authorization: authorization)
                #expect(answer.code == "unauthorized", "\(method) \(path)")
                #expect(answer.headers["www-authenticate"] != nil)
            }
        }
    }

    @Test func `two fields of authorization are none`() async throws {
        try await withServer { _, client, _ in
            let answer = try await client.send(
                "POST",
                "/v1/account/sessions",
                headers: ["Authorization: \(anna)", "Authorization: \(anna)"],
                body: Data()
            )
            #expect(answer.code == "unauthorized")
        }
    }

    @Test func `a wrong path or method is told as such`() async throws {
        try await withServer { _, client, _ in
            #expect(try await client.send("GET", "/v2").code == "not_found")
            let answer = try await client.send("PUT", "/v1/devices")
            #expect(answer.code == "method_not_allowed")
            #expect(answer.headers["allow"] == "DELETE, GET, HEAD, POST")
            #expect(
                try await client.send("BREW", "/v1/devices").code == "malformed",
                "no method that HTTP knows"
            )
            #expect(try await client.send("HEAD", "/healthz").status == 200)
        }
    }
    @Test func `a path with an empty part is none: it is not the path without it`() async throws {
        try await withServer { server, client, device in
            for path in ["/v1/devices/", "/v1//devices", "//v1/devices", "/account/"] {
                let answer = try await client.send("DELETE", path, authorization: anna)
                #expect(answer.code == "not_found", "\(path)")
            }
            #expect(try await server.store().devices(of: device.user).count == 1)
        }
    }

    @Test(arguments: [".", ".."])
    func `a device whose name means another path gets no challenge`(name: String) async throws {
        try await withServer { _, client, _ in
            for purpose in ["enable", "login"] {
                let answer = try await client.send(
                    "POST",
                    "/v1/challenges",
                    json: ["user": "anna", "device": name, "purpose": purpose]
                )
                #expect(answer.code == "malformed")
            }
        }
    }

    // Docs/Security.md: L32
    @Test func `who never reads the answers loses the connection`() async throws {
        try await withServer(timeout: 5) { _, client, _ in
            let request = Data("GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            let isClosed = try await client.flood(request, within: .seconds(60))
            #expect(isClosed)
        }
    }
}
