// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import WhorlFingerprint
import Foundation
import LocalAuthenticationTesting
import Testing

@Suite struct `Signing in` {
    @Test func `one touch gives a session, and the server is told how and for what`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            let login = try await bench.enable()
            bench.device.next(.match)
            let session = try await bench.client.attempt(
                reason: "see your account",
                claims: ["app": "bank 2.1"]
            )
            #expect(text(session.token) == "token-for-ada" && session.method == .finger)
            #expect(session.expiresAt == Date(timeIntervalSince1970: 2_000_000_000))
            #expect(session.user == bench.ada && session.device == login.device)
            let claims = try #require(bench.server.claims.last)
            #expect(claims.purpose == .login && claims.method == .finger && claims.app == ["app": "bank 2.1"])
            #expect(claims.expiresAt - claims.issuedAt <= 60)
        }
        #expect(bench.device.prompts.last?.reason == "see your account")
        #expect(bench.device.prompts.count == 2)
        #expect(bench.server.paths.suffix(2) == ["POST /v1/challenges", "POST /v1/sessions"])
    }

    @Test func `the challenge is there before the person is asked`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            let prompts = bench.device.prompts.count
            bench.server.onRequest { request in
                if request.path == "/v1/challenges" { #expect(bench.device.prompts.count == prompts) }
            }
            bench.device.next(.match)
            _ = try await bench.client.attempt()
        }
    }

    @Test func `the passcode is the other way, and the server is told so`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.device.next(.passcode(TestDevice.usualPasscode))
            #expect(try await bench.client.attempt().method == .passcode)
            #expect(bench.server.claims.last?.method == .passcode)
        }
    }

    @Test func `a key for the finger alone is not opened by the passcode`() async throws {
        var bench = try Bench()
        bench.options.takesPasscode = false
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.device.next(.passcode(TestDevice.usualPasscode), .cancel)
            let code = await failure { () throws(LoginError) in try await bench.client.attempt() }
            #expect(evaluation(code) != nil)
            #expect(bench.device.prompts.last?.asksForPasscode == false)
        }
    }

    @Test func `nobody is signed in without a match, and nothing is sent for it`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.device.next(.noMatch, .noMatch, .noMatch, .cancel)
            let code = await failure { () throws(LoginError) in try await bench.client.attempt() }
            #expect(evaluation(code) != nil)
            #expect(bench.server.paths.last == "POST /v1/challenges")
            guard case .enabled = try await bench.client.status() else { throw FakeServer.NotOurs() }
        }
    }

    @Test func `the password goes along where it is given, whatever is in it`() async throws {
        let bench = try Bench()
        let password = "a\"b\\c\u{1}\n\u{e9}😀"
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.device.next(.match, .match)
            _ = try await bench.client.attempt(password: secret(password))
            _ = try await bench.client.attempt()
        }
        #expect(bench.server.passwords == [password, nil])
    }

    // Docs/Security.md: L24
    @Test func `a key that the server does not know stays, and signs in once the server knows it again`()
        async throws
    {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            let login = try await bench.enable()
            let devices = bench.server.devices
            // As where the server runs on an empty or an older database.
            bench.server.forget()
            for _ in 0..<2 {
                bench.device.next(.match)
                #expect(
                    await failure { () throws(LoginError) in try await bench.client.attempt() }
                        == .mustEnableAgain(.unknownToServer)
                )
                #expect(try await bench.client.status() == .mustEnableAgain(.unknownToServer))
            }
            bench.server.restore(devices)
            bench.device.next(.match)
            _ = try await bench.client.attempt()
            #expect(try await bench.client.status() == .enabled(login))
        }
    }

    @Test func `a key that the server refused is deleted once another was enabled`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            let first = try await bench.enable()
            let devices = bench.server.devices
            bench.server.forget()
            bench.device.next(.match)
            _ = await failure { () throws(LoginError) in try await bench.client.attempt() }
            let second = try await bench.enable()
            #expect(second.device == first.device && second.keyID != first.keyID)
            #expect(try await bench.client.status() == .enabled(second))
            bench.server.restore(devices)
            bench.device.next(.match)
            let code = await failure { () throws(LoginError) in try await bench.client.attempt() }
            #expect(code == .mustEnableAgain(.unknownToServer))
        }
    }

    @Test func `enabling that fails after a refusal leaves the refused key`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            let devices = bench.server.devices
            bench.server.forget()
            bench.device.next(.match, .match)
            _ = await failure { () throws(LoginError) in try await bench.client.attempt() }
            let code = await failure { () throws(LoginError) in
                try await bench.client.enable(bench.ada, with: .password(secret("no")), deviceName: "d")
            }
            #expect(code == .unauthorized)
            bench.server.restore(devices)
            bench.device.next(.match)
            _ = try await bench.client.attempt()
        }
    }

    @Test func `a refused login of one user does not stand in the way of another's`() async throws {
        let bench = try Bench()
        let bob = try user("bob")
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.server.forget()
            bench.device.next(.match, .match, .match)
            _ = await failure { () throws(LoginError) in try await bench.client.attempt() }
            let login = try await bench.client.enable(bob, with: bench.password, deviceName: "d")
            #expect(try await bench.client.status() == .enabled(login))
            #expect(try await bench.client.attempt().user == bob)
        }
    }

    // Docs/Security.md: L13
    @Test func `someone with the passcode adds a finger and gets nothing, nor is anybody asked`() async throws
    {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.device.addFinger(.leftThumb)
            #expect(try await bench.client.status() == .mustEnableAgain(.fingersChanged))
            let (prompts, paths) = (bench.device.prompts.count, bench.server.paths)
            #expect(
                await failure { () throws(LoginError) in try await bench.client.attempt() }
                    == .mustEnableAgain(.fingersChanged)
            )
            #expect(bench.device.prompts.count == prompts && bench.server.paths == paths)
            // Its record stays, and the next attempt says the same.
            #expect(try await bench.client.status() == .mustEnableAgain(.fingersChanged))
            #expect(
                await failure { () throws(LoginError) in try await bench.client.attempt() }
                    == .mustEnableAgain(.fingersChanged)
            )
        }
    }

    @Test func `a device whose key is lost is the same device with the next`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            let first = try await bench.enable()
            bench.device.addFinger(.leftThumb)
            let lost = await failure { () throws(LoginError) in try await bench.client.attempt() }
            #expect(lost == .mustEnableAgain(.fingersChanged))
            let second = try await bench.enable()
            #expect(second.device == first.device)
            #expect(second.keyID != first.keyID)
        }
    }

    @Test func `a finger that is added while the challenge is fetched gets nothing either`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.server.onRequest { request in
                if request.path == "/v1/challenges" { bench.device.addFinger(.leftThumb) }
            }
            bench.device.next(.finger(.leftThumb))
            #expect(
                await failure { () throws(LoginError) in try await bench.client.attempt() }
                    == .mustEnableAgain(.fingersChanged)
            )
            #expect(!bench.server.paths.contains("POST /v1/sessions"))
        }
    }

    @Test func `all fingers removed counts as changed`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.device.removeAllFingers()
            #expect(
                await failure { () throws(LoginError) in try await bench.client.attempt() }
                    == .mustEnableAgain(.fingersChanged)
            )
        }
    }

    @Test func `a key for any finger goes on, as far as the server takes it`() async throws {
        var bench = try Bench()
        bench.options.fingers = .any
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.device.addFinger(.leftThumb)
            bench.server.ignoreDomainStates()
            bench.device.next(.finger(.leftThumb))
            _ = try await bench.client.attempt()
        }
        let other = try Bench()
        var strict = other
        strict.options.fingers = .any
        try await strict.device.run { () async throws in
            try await strict.enable()
            strict.device.addFinger(.leftThumb)
            strict.device.next(.finger(.leftThumb))
            #expect(
                await failure { () throws(LoginError) in try await strict.client.attempt() }
                    == .mustEnableAgain(.serverWantsItAgain)
            )
            #expect(try await strict.client.status() == .mustEnableAgain(.serverWantsItAgain))
            // The server's operator lets changed fingers in: the key is still there.
            strict.server.ignoreDomainStates()
            strict.device.next(.finger(.leftThumb))
            _ = try await strict.client.attempt()
        }
    }

    @Test func `what the program says besides has its limits`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.device.next(.match)
            #expect(
                await failure { () throws(LoginError) in
                    try await bench.client.attempt(claims: ["Not OK": "x"])
                }
                    == .claimsRefused
            )
            #expect(!bench.server.paths.contains("POST /v1/sessions"))
        }
    }

    @Test func `several sign-ins at a time do not disturb each other`() async throws {
        let bench = try Bench()
        bench.device.otherwise = .match
        try await bench.device.run { () async throws in
            try await bench.enable()
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<4 { group.addTask { text(try await bench.client.attempt().token) } }
                for try await token in group { #expect(token == "token-for-ada") }
            }
        }
        #expect(Set(bench.server.claims.map(\.challenge)).count == 5)
    }
}

// Docs/Security.md: C2b
@Suite struct `One call for all of it` {
    @Test func `the first time enables with one touch and signs in with another, later ones sign in`()
        async throws
    {
        let bench = try Bench()
        bench.device.otherwise = .match
        try await bench.device.run { () async throws in
            for touches in 2...3 {
                let session = try await bench.client.start(bench.ada, deviceName: "laptop") {
                    #expect(touches == 2)
                    return bench.password
                }
                #expect(text(session.token) == "token-for-ada")
                #expect(bench.device.prompts.count == touches)
            }
            #expect(bench.server.claims.map(\.purpose) == [.enable, .login, .login])
        }
    }

    @Test func `it enables again where it must`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.device.addFinger(.leftThumb)
            bench.device.next(.match, .match)
            _ = try await bench.client.start(bench.ada, deviceName: "laptop") { bench.password }
            bench.server.forget()
            bench.device.next(.match, .match, .match)
            _ = try await bench.client.start(bench.ada, deviceName: "laptop") { bench.password }
        }
    }

    @Test func `without a password it says why one was wanted`() async throws {
        let bench = try Bench()
        await bench.device.run {
            #expect(
                await failure { () throws(LoginError) in
                    try await bench.client.start(bench.ada, deviceName: "laptop") { nil }
                } == .notEnabled
            )
        }
        #expect(bench.device.prompts.isEmpty)
    }
}
