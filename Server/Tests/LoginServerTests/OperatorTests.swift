// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

@testable import LoginServer

struct `what an operator sees and undoes` {
    private let anna = basic("anna", "correct horse")

    private func server() async throws -> (TestServer, TestDevice) {
        let server = try await TestServer()
        let laptop = try TestDevice("anna", "laptop")
        try await AccountsCommand(store: server.store(), cost: .cheap).add(
            laptop.user,
            password: "correct horse"
        )
        return (server, laptop)
    }

    private func audit(_ server: TestServer) async throws -> [AuditEntry] {
        try await DevicesCommand(store: server.store()).audit(of: nil, atMost: 100).reversed()
    }

    private func token(_ answer: TestClient.Answer) throws -> String {
        "Bearer \(try #require(answer.json["token"] as? String, "\(answer.text)"))"
    }

    // Docs/Security.md: L11
    @Test func `every password that is tried is in the audit log, for users who are not there too`()
        async throws
    {
        let (server, laptop) = try await server()
        let now = server.clock.seconds
        try await server.run { client in
            for authorization in [anna, basic("anna", "hunter2"), basic("otto", "hunter2")] {
                _ = try await client.send("POST", "/v1/account/sessions", authorization: authorization)
            }
            _ = try await laptop.enable(client, at: now, authorization: basic("anna", "hunter2"))
        }
        let tries = try await audit(server).filter { $0.event != .userAdded }
        #expect(tries.map(\.event) == [.passwordAccepted] + Array(repeating: .passwordRefused, count: 3))
        #expect(tries.map { $0.user?.text } == ["anna", "anna", "otto", "anna"])
        #expect(tries.allSatisfy { $0.address == "127.0.0.1" })
        #expect(!"\(tries)".contains("hunter2") && !server.log.text.contains("hunter2"))
        #expect(server.log.text.contains(#""message":"password refused""#))
    }

    @Test func `a sign-in whose password was wrong is none, and one with both says so`() async throws {
        let (server, laptop) = try await server()
        let now = server.clock.seconds
        try await server.run { client in
            try await laptop.enable(client, at: now, authorization: anna)
            #expect(try await laptop.signIn(client, at: now, password: "wrong").code == "unauthorized")
            #expect(try await server.store().devices(of: laptop.user).map(\.lastUsedAt) == [nil])
            _ = try await laptop.signIn(client, at: now, password: "correct horse")
        }
        let entries = try await audit(server).filter { [.signedIn, .signInRefused].contains($0.event) }
        #expect(entries.map(\.event) == [.signInRefused, .signedIn])
        #expect(entries.first?.reason == "password_refused")
        #expect(entries.last?.reason?.contains("pwd") == true)
    }

    @Test func `a clock that is wrong and a forgery have one answer, and two lines in the log`() async throws
    {
        let (server, laptop) = try await server()
        let now = server.clock.seconds
        try await server.run { client in
            try await laptop.enable(client, at: now, authorization: anna)
            for isForged in [false, true] {
                let challenge = try await laptop.challenge(client, .login)
                var assertion = try laptop.assertion(challenge, .login, at: isForged ? now : now - 900)
                if isForged {
                    let said = assertion.split(separator: ".").dropLast().joined(separator: ".")
                    assertion = said + "." + Base64URL.encode(Data(repeating: 1, count: 64))
                }
                let answer = try await client.send("POST", "/v1/sessions", json: ["assertion": assertion])
                #expect(answer.code == "assertion_refused")
            }
        }
        let log = server.log.text
        for fault in ["assertion_expired", "assertion_signature"] {
            #expect(log.contains(#""fault":"\#(fault)""#))
        }
        let lines = log.split(separator: "\n").filter { $0.contains(#""message":"refused""#) }
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains(#""user":"anna""#) })
    }

    // Docs/Security.md: L12
    @Test func `a stolen laptop is revoked, at once, and nothing else is`() async throws {
        let (server, laptop) = try await server()
        let phone = try TestDevice("anna", "phone")
        let now = server.clock.seconds
        let devices = DevicesCommand(store: try server.store())
        try await server.run { client in
            for device in [laptop, phone] { try await device.enable(client, at: now, authorization: anna) }
            let token = try token(try await laptop.signIn(client, at: now))
            try await devices.revoke(laptop.name, of: laptop.user)
            #expect(try await laptop.signIn(client, at: now).code == "unknown_key")
            #expect(try await client.send("GET", "/v1/devices", authorization: token).code == "unauthorized")
            #expect(try await phone.signIn(client, at: now).status == 201)
        }
        #expect(try await devices.list(of: laptop.user).map(\.device) == [phone.name])
        await #expect(throws: ServerError.self) { try await devices.revoke(laptop.name, of: laptop.user) }
        #expect(try await audit(server).contains { $0.event == .revoked && $0.device == laptop.name })
    }

    @Test(arguments: [false, true])
    func `a new password takes along what the old one has enabled, where the operator says so`(
        revokes: Bool
    ) async throws {
        let (server, laptop) = try await server()
        let now = server.clock.seconds
        let accounts = AccountsCommand(store: try server.store(), cost: .cheap)
        try await server.run { client in
            try await laptop.enable(client, at: now, authorization: anna)
            try await accounts.setPassword("another horse", of: laptop.user, revokesDevices: revokes)
            let answer = try await laptop.signIn(client, at: now)
            #expect(answer.code == (revokes ? "unknown_key" : nil))
        }
        #expect(try await audit(server).contains { $0.event == .passwordChanged && $0.user == laptop.user })
    }

    @Test func `sessions end, and the device signs in again`() async throws {
        let (server, laptop) = try await server()
        let now = server.clock.seconds
        try await server.run { client in
            try await laptop.enable(client, at: now, authorization: anna)
            let device = try token(try await laptop.signIn(client, at: now))
            let page = try token(try await client.send("POST", "/v1/account/sessions", authorization: anna))
            try await AccountsCommand(store: try server.store(), cost: .cheap).endSessions(of: laptop.user)
            for token in [device, page] {
                let answer = try await client.send("GET", "/v1/devices", authorization: token)
                #expect(answer.code == "unauthorized")
            }
            server.clock.pass(60)
            let later = server.clock.seconds
            let fresh = try token(try await laptop.signIn(client, at: later))
            #expect(try await client.send("GET", "/v1/devices", authorization: fresh).status == 200)
            try await server.service.accounts.setPassword("another horse", of: laptop.user)
            #expect(try await client.send("GET", "/v1/devices", authorization: device).code == "unauthorized")
        }
        #expect(try await audit(server).contains { $0.event == .sessionsEnded })
    }

    @Test func `what operators do is in the audit log`() async throws {
        let (server, laptop) = try await server()
        let keys = try KeysCommand(store: try server.store(), keyFile: server.configuration.keyFile)
        try await keys.rotate(revoke: false)
        try await keys.rotate(revoke: true)
        try await AccountsCommand(store: server.store(), cost: .cheap).remove(laptop.user)
        let entries = try await audit(server)
        #expect(entries.map(\.event) == [.userAdded, .keyRotated, .keysReplaced, .userRemoved])
        #expect(entries.map { $0.user?.text } == ["anna", nil, nil, "anna"])
    }
}
