// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import LocalAuthenticationTesting
import Testing

// Docs/Security.md: C2b
/// A challenge is good for a while, and its owner may take longer.
@Suite struct `A challenge that has ended` {
    @Test(arguments: [TestDevice.Action.match, .passcode(TestDevice.usualPasscode)])
    func `is replaced, and its owner is asked again`(
        action: TestDevice.Action
    ) async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.server.onFirst("/v1/sessions") { bench.server.endChallenges() }
            bench.device.next(action, action)
            _ = try await bench.client.attempt()
            let again = ["POST /v1/challenges", "POST /v1/sessions"]
            #expect(bench.server.paths.suffix(4) == (again + again)[...])
            #expect(bench.device.prompts.count == 3)
        }
    }

    @Test func `is replaced once, and not for ever`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.server.onRequest { request in
                if request.path == "/v1/sessions" { bench.server.endChallenges() }
            }
            bench.device.next(.match, .match)
            #expect(
                await failure { () throws(LoginError) in try await bench.client.attempt() }
                    == .refused(.challengeUnknown)
            )
            #expect(bench.server.paths.count { $0 == "POST /v1/sessions" } == 2)
            #expect(bench.device.prompts.count == 3)
            guard case .enabled = try await bench.client.status() else { throw FakeServer.NotOurs() }
        }
    }

    @Test func `is replaced where a login is enabled too, with the same key and another touch`() async throws
    {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            bench.server.onFirst("/v1/devices") { bench.server.endChallenges() }
            bench.device.next(.match)
            let login = try await bench.enable()
            #expect(bench.device.prompts.count == 2)
            #expect(bench.server.devices.map(\.value.key.id) == [login.keyID])
            #expect(try await bench.client.status() == .enabled(login))
        }
    }
}
