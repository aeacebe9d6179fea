// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

@testable import RelyingPartyPostgreSQL

/// The connection is cut when the server has done what it was asked, and its answer is on the way.
@Suite(
    .enabled(if: PostgreSQLServer.isAvailable, "no PostgreSQL server is installed"),
    .timeLimit(.minutes(1))
)
struct `An answer of PostgreSQL that is lost` {
    private struct Case {
        let proxy: PostgreSQLProxy
        let store: PostgreSQLRelyingPartyStore
        let device = Device()

        init() async throws {
            let (proxy, url) = try PostgreSQLServer.shared.get().proxy()
            self.proxy = proxy
            store = try await PostgreSQLRelyingPartyStore(
                url: url,
                connections: 1,
                patience: 60,
                ifMissing: .create
            )
        }

        func register() async throws {
            _ = try await store.register(device.registered, provided: nil, atMost: 9, audit: device.entry)
        }

        func lines() async throws -> [AuditEntry.Event] {
            try await store.audit(of: device.user, atMost: 9).map(\.event)
        }

        func entry(_ event: AuditEntry.Event) -> AuditEntry {
            AuditEntry(at: 0, event: event, user: device.user, device: device.name, address: "")
        }
    }

    @Test func `does not make a document that was written one that was not`() async throws {
        let test = try await Case()
        let (one, two) = (Data([1]), Data([2]))
        for (old, new, command) in [(nil, one, "INSERT 0 1"), (one, two, "UPDATE 1"), (two, nil, "DELETE 1")]
        {
            test.proxy.loseAnswer(to: command)
            #expect(try await test.store.setDocument("keys", to: new, ifWas: old), "\(command)")
            #expect(!test.proxy.isWaiting)
            #expect(try await test.store.document("keys") == new)
        }
        // What somebody else has written is not taken for one's own.
        test.proxy.loseAnswer(to: "INSERT 0 0")
        #expect(try await test.store.setDocument("keys", to: one, ifWas: nil))
        await #expect(throws: RelyingPartyError.self) {
            try await test.store.setDocument("keys", to: two, ifWas: nil)
        }
        #expect(try await test.store.document("keys") == one)
    }

    @Test func `to a revocation is told as lost, and what happened has happened once`() async throws {
        let test = try await Case()
        try await test.register()
        test.proxy.loseAnswer(to: "COMMIT")
        let refused = await code { () async throws(RelyingPartyError) in
            _ = try await test.store.revoke(test.device.name, audit: test.entry(.revoked))
        }
        #expect(refused == .store)
        #expect(try await test.store.devices(of: test.device.user).isEmpty)
        #expect(try await test.lines() == [.revoked, .enabled])
    }

    @Test func `to a registration or a sign-in is told as lost, and writes one line`() async throws {
        let test = try await Case()
        test.proxy.loseAnswer(to: "COMMIT")
        let registered = await code { () async throws(RelyingPartyError) in
            _ = try await test.store.register(
                test.device.registered,
                provided: nil,
                atMost: 9,
                audit: test.device.entry
            )
        }
        #expect(registered == .store)
        #expect(try await test.store.devices(of: test.device.user).count == 1)
        #expect(try await test.lines() == [.enabled])
        test.proxy.loseAnswer(to: "SELECT 1")
        let nonce = Nonce.another()
        func signIn() async throws(RelyingPartyError) -> SigningIn {
            try await test.store.signIn(test.device.registered, using: nonce, audit: test.entry(.signedIn))
        }
        #expect(await code { () async throws(RelyingPartyError) in _ = try await signIn() } == .store)
        #expect(try await test.lines() == [.signedIn, .enabled])
        #expect(try await signIn() == .challengeUsed)
        #expect(try await test.lines() == [.signedIn, .enabled])
    }

    @Test func `before the end of a transaction is no loss: it happens again`() async throws {
        let test = try await Case()
        try await test.register()
        test.proxy.loseAnswer(to: "DELETE 1")
        #expect(
            try await test.store.revoke(test.device.name, audit: test.entry(.revoked)) == [test.device.name]
        )
        #expect(!test.proxy.isWaiting)
        #expect(try await test.lines() == [.revoked, .enabled])
    }

    @Test func `to a question is no loss: it is asked again`() async throws {
        let test = try await Case()
        try await test.register()
        test.proxy.loseAnswer(to: "SELECT 1")
        #expect(try await test.store.devices(of: test.device.user).count == 1)
        #expect(!test.proxy.isWaiting)
    }
}
