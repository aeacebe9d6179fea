// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import LocalAuthenticationTesting
import Testing

/// What other tasks and programs do while somebody signs in, or enables a login.
@Suite struct `While somebody signs in` {
    @Test func `a key that is enabled meanwhile stays, and it is the one that signs in`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.server.onFirst("/v1/sessions") { _ = try? await bench.enable() }
            bench.device.next(.match)
            bench.device.otherwise = .match
            let session = try await bench.client.attempt()
            #expect(text(session.token) == "token-for-ada")
            // Two keys were enabled, and both were tried.
            #expect(bench.device.prompts.count == 4)
            guard case .enabled(let login) = try await bench.client.status() else {
                throw FakeServer.NotOurs()
            }
            #expect(bench.server.devices.map(\.value.key.id) == [login.keyID])
        }
    }

    @Test func `a login that is disabled meanwhile does not come back`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            bench.device.next(.match)
            bench.server.next(.answered, .answerLost)
            _ = await failure { () throws(LoginError) in
                try await bench.client.enable(bench.ada, with: bench.password, deviceName: "d")
            }
            bench.server.onFirst("/v1/sessions") { _ = try? await bench.client.disable() }
            bench.device.next(.match)
            _ = try await bench.client.attempt()
            #expect(try await bench.client.status() == .notEnabled)
        }
    }

    @Test func `a login that is disabled while it is enabled is not enabled`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            bench.server.onFirst("/v1/devices") { _ = try? await bench.client.disable() }
            bench.device.next(.match)
            #expect(
                await failure { () throws(LoginError) in
                    try await bench.client.enable(bench.ada, with: bench.password, deviceName: "d")
                } == .changedMeanwhile
            )
            #expect(try await bench.client.status() == .notEnabled)
        }
    }

    @Test func `a refused key takes nothing along that was enabled meanwhile`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.server.onFirst("/v1/devices") { _ = try? await bench.enable() }
            bench.device.next(.match)
            let code = await failure { () throws(LoginError) in
                try await bench.client.enable(bench.ada, with: .password(secret("no")), deviceName: "d")
            }
            #expect(code == .unauthorized)
            guard case .enabled(let login) = try await bench.client.status() else {
                throw FakeServer.NotOurs()
            }
            #expect(bench.server.devices.map(\.value.key.id) == [login.keyID])
        }
    }
}
