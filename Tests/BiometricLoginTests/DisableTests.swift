// SPDX-License-Identifier: Apache-2.0

import BiometricLogin
import LocalAuthenticationTesting
import Testing

@Suite struct `Disabling a login` {
    @Test func `the key goes here and at the server`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.device.next(.match)
            let session = try await bench.client.attempt()
            #expect(try await bench.client.disable(telling: .session(session.token)) == .everywhere)
            #expect(bench.server.devices.isEmpty)
            #expect(try await bench.client.status() == .notEnabled)
            #expect(try await bench.client.disable() == .wasNotEnabled)
        }
    }

    @Test func `the password does as well, and a device that the server does not have is no failure`()
        async throws
    {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.server.forget()
            #expect(try await bench.client.disable(telling: bench.password) == .everywhere)
        }
    }

    @Test func `it goes here whatever the network does`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            bench.server.next(.lost(LoginTransportError.unreachable))
            let outcome = try await bench.client.disable(telling: bench.password)
            #expect(outcome == .hereOnly(LoginError(.transport(.unreachable))))
            #expect(try await bench.client.status() == .notEnabled)
            try await bench.enable()
            #expect(
                try await bench.client.disable(telling: .password(secret("no")))
                    == .hereOnly(LoginError(.unauthorized))
            )
            try await bench.enable()
            #expect(try await bench.client.disable() == .here)
        }
    }

    @Test func `a token that would end a header's line is not sent`() async throws {
        let bench = try Bench()
        try await bench.device.run { () async throws in
            try await bench.enable()
            let count = bench.server.paths.count
            let outcome = try await bench.client.disable(telling: .session(secret("a\r\nX: y")))
            #expect(outcome == .hereOnly(LoginError(.unauthorized)))
            #expect(bench.server.paths.count == count)
        }
    }
}
