// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlContext
import BiometricLogin
import WhorlFingerprint
import Foundation
import WhorlSQLite
import SoftwareMachine
import SoftwareTPM
import WhorlStateStore
import Testing
import WhorlSystem

/// The same with a TPM and the engine that programs have.
@Suite(.enabled(if: SoftwareTPM.isAvailable, "needs swtpm and tpm2-tools"))
struct `A login with a TPM` {
    private let machine: Machine
    private let server: FakeServer
    private let ada: LoginName
    private var password: LoginCredential { .password(secret(FakeServer.password)) }

    init() async throws {
        machine = try await Machine()
        server = try FakeServer()
        ada = try user("ada")
    }

    private var client: LoginClient { client(on: machine) }

    private func client(on machine: Machine) -> LoginClient {
        LoginClient(server: server.origin, transport: server, options: LoginOptions()) { machine.parts }
    }

    @Test func `one touch makes the key, one touch signs in`() async throws {
        let login = try await client.enable(ada, with: password, deviceName: "laptop")
        #expect(login.fingers == .currentSet && !login.takesPasscode)
        #expect(machine.prompts.count == 1)
        let session = try await client.attempt()
        #expect(text(session.token) == "token-for-ada" && session.method == .finger)
        #expect(machine.prompts.count == 2)
    }

    @Test func `enabling and signing in at once takes a touch for each`() async throws {
        _ = try await client.start(ada, deviceName: "laptop") { [password] in password }
        #expect(machine.prompts.count == 2)
    }

    @Test func `the passcode signs where the key takes it, and with a finger added it does not`() async throws
    {
        // Nobody lays a finger on it.
        let machine = try await Machine(reader: "mock:then=wait")
        let client = client(on: machine)
        try await machine.setPasscode("1234")
        machine.prompts.answer(with: "1234")
        #expect(try await client.enable(ada, with: password, deviceName: "laptop").takesPasscode)
        #expect(try await client.attempt().method == .passcode)
        try await machine.services.enroll(.leftThumb)
        let asked = machine.prompts.count
        #expect(
            await failure { () throws(LoginError) in try await client.attempt() }
                == .mustEnableAgain(.fingersChanged)
        )
        #expect(machine.prompts.count == asked)
        #expect(try await client.status() == .mustEnableAgain(.fingersChanged))
    }

    @Test func `a finger that is added while the challenge is fetched gets nothing of the chip`() async throws
    {
        try await client.enable(ada, with: password, deviceName: "laptop")
        let machine = machine
        server.onRequest { request in
            guard request.path == "/v1/challenges" else { return }
            try? await machine.services.enroll(.leftThumb)
        }
        #expect(
            await failure { () throws(LoginError) in try await client.attempt() }
                == .mustEnableAgain(.fingersChanged)
        )
        #expect(!server.paths.contains("POST /v1/sessions"))
    }

    @Test func `raw signatures are the chip's, over the bytes that were given`() async throws {
        let keys = BiometricKeys("pair", options: LoginOptions()) { [machine] in machine.parts }
        let key = try await keys.createKeys()
        let payload = Data("challenge".utf8)
        let signature = try await keys.createSignature(promptMessage: "sign in", payload: payload)
        #expect(key.isValid(der: signature, over: payload))
        #expect(machine.prompts.count == 1)
        try await machine.services.enroll(.leftThumb)
        #expect(try await keys.keysExist() == false)
    }

    @Test func `a record that was edited is none, and makes room for the next`() async throws {
        try await client.enable(ada, with: password, deviceName: "laptop")
        let database = try await machine.services.engine.state.created()
        try await database.write { db in
            try db.execute(sql: "UPDATE keychain_items SET value = zeroblob(length(value))")
        }
        #expect(try await client.status() == .notEnabled)
        try await client.enable(ada, with: password, deviceName: "laptop")
        _ = try await client.attempt()
    }
}
