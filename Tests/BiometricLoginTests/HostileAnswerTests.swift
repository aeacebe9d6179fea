// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import Foundation
import LocalAuthenticationTesting
import Testing

// Docs/Security.md: L14
/// A server's answers are bytes from outside.
@Suite struct `Answers that are none` {
    private static let challenge = Data(repeating: 7, count: 32)

    private static func challengeAnswers() -> [(LoginResponse, LoginError.Code)] {
        let good = FakeServer.challenge(challenge, "https://bank.example")
        func with(_ member: String, _ value: (any Sendable)?) -> LoginResponse {
            var object = good
            object[member] = value
            return .json(201, object)
        }
        let malformed = LoginError.Code.answerRefused(.malformed)
        let deep = Data(String(repeating: "[", count: 8000).utf8)
        return [
            (with("challenge", Base64URL.encode(challenge.prefix(31))), malformed),
            (with("challenge", Base64URL.encode(challenge + [1])), malformed),
            (with("challenge", challenge.base64EncodedString()), malformed),
            (with("challenge", 7), malformed),
            (with("challenge", nil), malformed),
            (with("expiresAt", "soon"), malformed),
            (with("expiresAt", 1e300), malformed),
            (with("origin", "https://bank.example."), .answerRefused(.otherOrigin)),
            (with("origin", "https://evil.example"), .answerRefused(.otherOrigin)),
            (with("origin", nil), malformed),
            (.json(200, good), malformed),
            (.json(201, good, type: "text/html"), malformed),
            (.raw(201, Data("{\"challenge\":".utf8), type: "application/json"), malformed),
            (.raw(201, Data([0xFF, 0xFE, 0x80]), type: "application/json"), malformed),
            (.raw(201, deep, type: "application/json"), malformed),
            (.raw(201, Data(), type: "application/json"), malformed),
            (.raw(201, Data(count: 16_385), type: "application/json"), .answerRefused(.tooLarge)),
            (.raw(302, Data(), type: nil), .answerRefused(.redirected)),
            (.raw(101, Data(), type: nil), malformed),
            (.raw(401, Data("<html>".utf8), type: "text/html"), malformed),
            (.problem(401, "challenge_unknown"), .refused(.challengeUnknown)),
            (.problem(403, "<script>"), .refused(.other)),
            (.problem(409, "key_in_use"), .refused(.keyInUse)),
            (.problem(409, "too_many_devices"), .refused(.tooManyDevices)),
            (.problem(429, "too_many_requests", retryAfter: 12), .tooManyTries(seconds: 12)),
            (.problem(429, "too_many_requests", retryAfter: -5), .tooManyTries(seconds: 1)),
            (.problem(429, "too_many_requests", retryAfter: .max), .tooManyTries(seconds: 86_400)),
            (.raw(500, Data("boom".utf8), type: nil), .serverFailed(status: 500)),
            (.problem(503, "unavailable"), .serverFailed(status: 503)),
        ]
    }

    @Test(arguments: challengeAnswers().indices)
    func `a challenge that is none ends it before anybody is asked, and the key stays`(index: Int)
        async throws
    {
        let (answer, code) = Self.challengeAnswers()[index]
        let bench = try Bench()
        try await bench.device.run { () async throws in
            let login = try await bench.enable()
            let prompts = bench.device.prompts.count
            bench.server.next(.forged(answer))
            #expect(await failure { () throws(LoginError) in try await bench.client.attempt() } == code)
            #expect(bench.device.prompts.count == prompts)
            #expect(try await bench.client.status() == .enabled(login))
        }
    }

    private static let sessionAnswers: [LoginResponse] = [
        .json(201, ["token": "", "tokenType": "Bearer", "expiresAt": 1]),
        .json(201, ["token": "a\",\"admin\":\"1", "tokenType": "Bearer", "expiresAt": 1]),
        .json(201, ["token": "a b", "tokenType": "Bearer", "expiresAt": 1]),
        .json(201, ["token": "a\r\nSet-Cookie: x", "tokenType": "Bearer", "expiresAt": 1]),
        .json(201, ["token": String(repeating: "a", count: 12_289), "tokenType": "Bearer", "expiresAt": 1]),
        .json(201, ["token": "t", "tokenType": "MAC", "expiresAt": 1]),
        .json(201, ["token": "t", "tokenType": "Bearer", "expiresAt": -1]),
        .json(201, ["token": "t", "tokenType": "Bearer"]),
        .json(200, ["token": "t", "tokenType": "Bearer", "expiresAt": 1]),
    ]

    @Test(arguments: sessionAnswers.indices)
    func `a session that is none is none`(index: Int) async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.device.next(.match)
            bench.server.next(.answered, .forged(Self.sessionAnswers[index]))
            let code = await failure { () throws(LoginError) in try await bench.client.attempt() }
            #expect(code == .answerRefused(.malformed))
        }
    }

    /// A transport's own error may hold what was sent.
    private struct Loud: Error, CustomStringConvertible {
        var description: String { "sent: \(FakeServer.password)" }
    }

    @Test func `of a transport's own error nothing is told`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            bench.server.next(.lost(Loud()))
            do throws(LoginError) {
                try await bench.client.enable(bench.ada, with: bench.password, deviceName: "d")
            } catch {
                #expect(error.code == .transport(.failed))
                for text in ["\(error)", error.message, error.recovery, String(reflecting: error)] {
                    #expect(!text.contains(FakeServer.password))
                }
            }
        }
    }

    @Test func `neither a session nor a request shows what it holds`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            bench.server.onRequest { request in
                var dumped = ""
                dump(request, to: &dumped)
                let shown = dumped + "\(request)"
                #expect(!shown.contains(FakeServer.password) && !shown.contains("Basic"))
            }
            try await bench.enable()
            bench.device.next(.match)
            let session = try await bench.client.attempt()
            var shown = "\(session)"
            dump(session, to: &shown)
            #expect(!shown.contains("token-for-ada"))
        }
    }
}
