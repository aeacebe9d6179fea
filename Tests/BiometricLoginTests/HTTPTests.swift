// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import BiometricLoginHTTP
import Foundation
import LocalAuthenticationTesting
import LoginServer
import Testing

/// The transport that ships, against a server of another language on loopback.
@Suite(.serialized) struct `Over HTTP` {
    private func send(_ mode: LoginServer.Mode, wait: Duration = .seconds(20)) async throws -> LoginResponse {
        let server = try LoginServer(mode)
        let origin = try #require(LoginOrigin(server.origin))
        let request = LoginRequest(to: origin, .post, "/v1/challenges", body: secret("{}"))
        return try await URLSessionTransport(wait: wait).send(request)
    }

    @Test func `a login from its beginning to its end`() async throws {
        let server = try LoginServer()
        let origin = try #require(LoginOrigin(server.origin))
        let client = LoginClient(server: origin, transport: URLSessionTransport())
        let ada = try user("ada")
        let device = TestDevice()
        device.otherwise = .match
        try await device.run { () async throws in
            let wrong = await failure { () throws(LoginError) in
                try await client.enable(ada, with: .password(secret("no")), deviceName: "laptop")
            }
            #expect(wrong == .unauthorized)
            let right = LoginCredential.password(secret(LoginServer.password))
            let login = try await client.enable(ada, with: right, deviceName: "laptop")
            let session = try await client.attempt()
            #expect(text(session.token) == "token-for-ada")
            #expect(try await client.disable(telling: .session(session.token)) == .everywhere)
            let requests = try await server.requests()
            #expect(
                requests.compactMap { $0["path"] as? String } == [
                    "/v1/challenges", "/v1/devices", "/v1/challenges", "/v1/devices", "/v1/challenges",
                    "/v1/sessions", "/v1/devices/\(login.device)",
                ]
            )
            // The server has set a cookie, and asked for a password that it was given: neither comes of itself.
            for request in requests {
                let headers = request["headers"] as? [String: String] ?? [:]
                #expect(headers["Cookie"] == nil)
                let isAuthorised = (request["path"] as? String)?.hasPrefix("/v1/devices") == true
                #expect((headers["Authorization"] != nil) == isAuthorised)
            }
        }
    }

    @Test func `a redirect is an answer`() async throws {
        #expect(try await send(.redirect).status == 307)
    }

    @Test func `the largest answer is read whole, a larger one not`() async throws {
        #expect(try await send(.exact).body.bytes.count == LoginResponse.longestBody)
        await #expect(throws: LoginTransportError.tooLarge) { try await send(.large) }
        await #expect(throws: LoginTransportError.tooLarge) { try await send(.endless) }
    }

    @Test func `how long to wait is told`() async throws {
        let answer = try await send(.busy)
        #expect(answer.status == 429 && answer.retryAfter == 7)
        #expect(answer.contentType == "application/problem+json")
    }

    @Test func `a server that says nothing, cuts off or is not there is no answer`() async throws {
        await #expect(throws: LoginTransportError.timedOut) { try await send(.silent, wait: .seconds(1)) }
        await #expect(throws: LoginTransportError.self) { try await send(.cut) }
        let nobody = try #require(LoginOrigin("http://127.0.0.1:9"))
        await #expect(throws: LoginTransportError.unreachable) {
            try await URLSessionTransport().send(LoginRequest(to: nobody, .get, "/"))
        }
    }

    @Test func `a certificate that nobody has signed is not trusted`() async throws {
        let server = try LoginServer(.unsigned)
        let origin = try #require(LoginOrigin(server.origin))
        await #expect(throws: LoginTransportError.notTrusted) {
            try await URLSessionTransport().send(LoginRequest(to: origin, .get, "/v1/secret"))
        }
    }

    @Test func `cancelling the task ends it`() async throws {
        let task = Task { try await send(.silent, wait: .seconds(600)) }
        // It is cancelled before, at or after its start: in each case it ends.
        task.cancel()
        await #expect(throws: LoginTransportError.cancelled) { try await task.value }
    }
}

@Suite struct `Frames between two programs` {
    @Test func `a request comes through as it is`() throws {
        let origin = try #require(LoginOrigin("https://bank.example:8443"))
        let request = LoginRequest(
            to: origin,
            .delete,
            "/v1/devices/x",
            authorization: secret("Basic abc"),
            body: secret(Data([0, 255, 10]))
        )
        let read = try #require(LoginFrames.request(LoginFrames.encode(request)))
        #expect(read.origin == origin && read.method == .delete && read.path == "/v1/devices/x")
        #expect(read.authorization.map(text) == "Basic abc")
        #expect(read.body?.bytes.withUnsafeBytes { Data($0) } == Data([0, 255, 10]))
        let bare = try #require(LoginFrames.request(LoginFrames.encode(LoginRequest(to: origin, .get, "/"))))
        #expect(bare.authorization == nil && bare.body == nil)
    }

    @Test func `an answer and every failure come through as they are`() throws {
        let answer = LoginResponse.raw(429, Data("{}".utf8), type: "application/json", retryAfter: 7)
        let read = try LoginFrames.outcome(LoginFrames.encode(.success(answer))).get()
        #expect(read.status == 429 && read.contentType == "application/json" && read.retryAfter == 7)
        #expect(text(read.body) == "{}")
        for error in LoginTransportError.allCases {
            #expect(throws: error) { try LoginFrames.outcome(LoginFrames.encode(.failure(error))).get() }
        }
    }

    @Test func `what is cut off or goes on is none`() throws {
        let origin = try #require(LoginOrigin("https://bank.example"))
        let frame = LoginFrames.encode(LoginRequest(to: origin, .get, "/", body: secret("{}")))
        let bytes = frame.bytes.withUnsafeBytes { Data($0) }
        for count in 0..<bytes.count { #expect(LoginFrames.request(secret(bytes.prefix(count))) == nil) }
        #expect(LoginFrames.request(secret(bytes + [0])) == nil)
        let huge = Data([255, 255, 255, 255]) + bytes
        #expect(LoginFrames.request(secret(huge)) == nil)
        #expect(throws: LoginTransportError.malformed) { try LoginFrames.outcome(secret(huge)).get() }
    }
}
