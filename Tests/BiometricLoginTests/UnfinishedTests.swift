// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import LocalAuthenticationTesting
import Testing

/// Logins that were sent to a server which did not answer.
@Suite struct `A login that is not finished` {
    /// Enables with one touch, and no answer comes.
    private func enableWithoutAnswer(_ bench: Bench, as user: LoginName, _ fate: FakeServer.Fate) async {
        bench.device.next(.match)
        bench.server.next(.answered, fate)
        let code = await failure { () throws(LoginError) in
            try await bench.client.enable(user, with: bench.password, deviceName: "d")
        }
        #expect(code == .transport(.timedOut))
    }

    @Test(arguments: 0..<4)
    func `whichever of several keys the server has is found, with a touch for each that is tried`(
        arrived: Int
    ) async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            for number in 0..<4 {
                let fate =
                    number == arrived ? FakeServer.Fate.answerLost : .lost(LoginTransportError.timedOut)
                await enableWithoutAnswer(bench, as: bench.ada, fate)
            }
            let prompts = bench.device.prompts.count
            bench.device.otherwise = .match
            _ = try await bench.client.attempt()
            // The newest key is tried first.
            #expect(bench.device.prompts.count == prompts + 4 - arrived)
            guard case .enabled(let login) = try await bench.client.status() else {
                throw FakeServer.NotOurs()
            }
            #expect(bench.server.devices.map(\.value.key.id) == [login.keyID])
        }
    }

    @Test func `another user who cancels does not end it`() async throws {
        let bench = try Bench()
        let bob = try user("bob")
        try await bench.device.run { () async throws in
            await enableWithoutAnswer(bench, as: bob, .answerLost)
            let before = try await bench.client.status(of: bob)
            bench.device.next(.cancel)
            let code = await failure { () throws(LoginError) in
                try await bench.client.enable(bench.ada, with: bench.password, deviceName: "d")
            }
            #expect(evaluation(code) == .userCancel)
            #expect(try await bench.client.status(of: bob) == before)
            bench.device.next(.match)
            #expect(try await bench.client.attempt().user == bob)
        }
    }

    @Test func `another user's that comes to be takes its place`() async throws {
        let bench = try Bench()
        let bob = try user("bob")
        try await bench.device.run { () async throws in
            await enableWithoutAnswer(bench, as: bob, .answerLost)
            let login = try await bench.enable()
            #expect(try await bench.client.status(of: bob) == .notEnabled)
            #expect(try await bench.client.status() == .enabled(login))
        }
    }

    @Test func `so it does where the answer to that was lost, once it is known`() async throws {
        let bench = try Bench()
        let bob = try user("bob")
        try await bench.device.run { () async throws in
            await enableWithoutAnswer(bench, as: bob, .answerLost)
            await enableWithoutAnswer(bench, as: bench.ada, .answerLost)
            #expect(
                await failure { () throws(LoginError) in try await bench.client.attempt() }
                    == .severalAccounts
            )
            bench.device.next(.match)
            _ = try await bench.client.attempt(bench.ada)
            #expect(try await bench.client.status(of: bob) == .notEnabled)
        }
    }
}
