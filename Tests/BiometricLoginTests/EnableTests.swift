// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import WhorlFingerprint
import Foundation
import LocalAuthenticationTesting
import Synchronization
import Testing

@Suite struct `Enabling a login` {
    @Test func `one touch makes a key that the server takes, and the device remembers it`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            #expect(try await bench.client.status() == .notEnabled)
            let login = try await bench.enable()
            #expect(login.user == bench.ada && login.name == "ada’s laptop")
            #expect(login.fingers == .currentSet && login.takesPasscode)
            #expect(Base64URL.decode(login.device.text)?.count == 16)
            let known = bench.server.devices[.init(user: "ada", device: login.device.text)]
            #expect(known?.key.id == login.keyID && known?.domainState?.count == 32)
            #expect(try await bench.client.status(of: bench.ada) == .enabled(login))
        }
        #expect(bench.device.prompts.map(\.reason) == ["sign in to bank.example as ada"])
        #expect(bench.server.paths == ["POST /v1/challenges", "POST /v1/devices"])
        #expect(bench.server.claims.map(\.purpose) == [.enable])
    }

    @Test func `the record is of its program alone`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in _ = try await bench.enable() }
        let other = TestDevice()
        try await other.run { () async throws in #expect(try await bench.client.status() == .notEnabled) }
    }

    @Test func `enabling again keeps the device's name and replaces its key`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            let first = try await bench.enable()
            let second = try await bench.enable()
            #expect(first.device == second.device && first.keyID != second.keyID)
            #expect(bench.server.devices.map(\.value.key.id) == [second.keyID])
        }
    }

    @Test func `what can be refused is refused before anybody is asked`() async throws {
        let bench = try Bench()
        func enable(_ name: String) async throws -> LoginError.Code? {
            let name = try user(name)
            return await failure { () throws(LoginError) in
                try await bench.client.enable(name, with: bench.password, deviceName: "d")
            }
        }
        try await bench.device.run { () async throws in
            #expect(try await enable("ada:1") == .userUnusable)
            bench.device.removeAllFingers()
            #expect(evaluation(try await enable("ada")) == .biometryNotEnrolled)
        }
        #expect(bench.device.prompts.isEmpty && bench.server.paths.isEmpty)
    }

    @Test(arguments: ["", " ", "a\nb", "laptop ", String(repeating: "n", count: 129)])
    func `so is a name of the device that no server takes`(name: String) async throws {
        let bench = try Bench()
        await bench.device.run {
            #expect(
                await failure { () throws(LoginError) in
                    try await bench.client.enable(bench.ada, with: bench.password, deviceName: name)
                } == .deviceNameUnusable
            )
            #expect(
                await failure { () throws(LoginError) in
                    try await bench.client.start(bench.ada, deviceName: name) {
                        Issue.record("the password was asked for")
                        return nil
                    }
                } == .deviceNameUnusable
            )
        }
        #expect(bench.device.prompts.isEmpty && bench.server.paths.isEmpty)
    }

    @Test func `a wrong password leaves what was there`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            func wrong() async -> LoginError.Code? {
                bench.device.next(.match)
                return await failure { () throws(LoginError) in
                    try await bench.client.enable(bench.ada, with: .password(secret("no")), deviceName: "d")
                }
            }
            #expect(await wrong() == .unauthorized)
            #expect(try await bench.client.status() == .notEnabled)
            let login = try await bench.enable()
            #expect(await wrong() == .unauthorized)
            #expect(try await bench.client.status() == .enabled(login))
            bench.device.next(.match)
            _ = try await bench.client.attempt()
        }
    }

    @Test func `a person who cancels leaves nothing, and nothing is sent`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            bench.device.next(.cancel)
            let code = await failure { () throws(LoginError) in
                try await bench.client.enable(bench.ada, with: bench.password, deviceName: "d")
            }
            #expect(evaluation(code) == .userCancel)
            #expect(try await bench.client.status() == .notEnabled)
            #expect(bench.server.paths == ["POST /v1/challenges"])
        }
    }

    @Test func `the key is on the disk before the server hears of it`() async throws {
        let bench = try Bench()
        let seen = Mutex<[LoginStatus]>([])
        try await bench.device.run { () async throws in
            bench.device.next(.match)
            // As a kill at this moment would leave it: the request has left, and nothing has come back.
            bench.server.next(.answered, .lost(LoginTransportError.unreachable))
            #expect(
                await failure { () throws(LoginError) in
                    try await bench.client.enable(bench.ada, with: bench.password, deviceName: "d")
                } == .transport(.unreachable)
            )
            let status = try await bench.client.status()
            seen.withLock { $0.append(status) }
            guard case .unfinished(let login) = status else { throw FakeServer.NotOurs() }
            // Enabling goes on: the same device, another key.
            let again = try await bench.enable()
            #expect(again.device == login.device && again.keyID != login.keyID)
            #expect(bench.server.devices.count == 1)
        }
    }

    @Test func `an attempt goes on where the answer to enabling was lost`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            bench.device.next(.match, .match)
            bench.server.next(.answered, .answerLost)
            #expect(
                await failure { () throws(LoginError) in
                    try await bench.client.enable(bench.ada, with: bench.password, deviceName: "d")
                } == .transport(.timedOut)
            )
            let session = try await bench.client.attempt()
            #expect(text(session.token) == "token-for-ada")
            guard case .enabled = try await bench.client.status() else { throw FakeServer.NotOurs() }
        }
    }

    @Test func `where enabling again never got there, a second touch signs in with the former key`()
        async throws
    {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            let login = try await bench.enable()
            bench.device.next(.match)
            bench.server.next(.answered, .lost(LoginTransportError.timedOut))
            _ = await failure { () throws(LoginError) in
                try await bench.client.enable(bench.ada, with: bench.password, deviceName: "d")
            }
            let before = bench.device.prompts.count
            bench.device.next(.match, .match)
            _ = try await bench.client.attempt()
            #expect(bench.device.prompts.count == before + 2)
            #expect(try await bench.client.status() == .enabled(login))
        }
    }

    @Test func `one account on a device, unless it is asked otherwise`() async throws {
        var bench = try Bench()
        let bob = try user("bob")
        try await bench.device.run { () async throws in
            try await bench.enable()
            #expect(
                await failure { () throws(LoginError) in
                    try await bench.client.enable(bob, with: bench.password, deviceName: "d")
                } == .otherAccount(bench.ada)
            )
            bench.options.allowsSeveralAccounts = true
            bench.device.next(.match)
            try await bench.client.enable(bob, with: bench.password, deviceName: "d")
            #expect(
                await failure { () throws(LoginError) in try await bench.client.attempt() }
                    == .severalAccounts
            )
            bench.device.next(.match)
            #expect(try await bench.client.attempt(bob).user == bob)
        }
    }

    @Test func `the answer must be about what was asked`() async throws {
        let bench = try Bench()
        let device = Base64URL.encode(Data(count: 16))
        let forged = LoginResponse.json(
            201,
            ["user": "ada", "device": device, "keyID": "k", "name": "d", "enabledAt": 1]
        )
        try await bench.device.run { () async throws in
            bench.device.next(.match)
            bench.server.next(.answered, .forged(forged))
            #expect(
                await failure { () throws(LoginError) in
                    try await bench.client.enable(bench.ada, with: bench.password, deviceName: "d")
                } == .answerRefused(.otherDevice)
            )
            guard case .unfinished = try await bench.client.status() else { throw FakeServer.NotOurs() }
        }
    }

    @Test func `without a passcode the finger is the only way, and any finger can be asked for`() async throws
    {
        var bench = try Bench(passcode: nil)
        try await bench.device.run { () async throws in
            #expect(try await bench.enable().takesPasscode == false)
            bench.options.fingers = .any
            #expect(try await bench.enable().fingers == .any)
        }
    }
}
