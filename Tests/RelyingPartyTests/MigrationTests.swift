// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import Testing

@testable import RelyingParty

/// A database that an earlier version of the schema made and used is opened, and all in it is as it was.
@Suite struct `A database of an earlier version` {
    private let device = Device()

    /// Makes a database of an earlier version.
    private func make(_ version: Int, _ home: StoreHome) async throws {
        let store = try await home.open()
        _ = try await store.register(device.registered, audit: device.entry)
        _ = try await store.setDocument("keys", to: Data([1]), ifWas: nil)
        try await home.goBack(to: version)
    }

    @Test(arguments: StoreKind.all, [1, 2, 3])
    func `is brought up to date once, where many open it together`(
        _ kind: StoreKind,
        version: Int
    ) async throws {
        let home = try StoreHome(kind)
        try await make(version, home)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let devices = try await home.open(ifMissing: .refuse).devices(of: device.user)
                    #expect(devices == [device.registered])
                }
            }
            try await group.waitForAll()
        }
        let store = try await home.open(ifMissing: .refuse)
        #expect(try await store.document("keys") == Data([1]))
        #expect(try await store.audit(of: device.user, atMost: 9).map(\.event) == [.enabled])
        #expect(try await store.approve(device.name, keyID: device.key.id, audit: device.entry))
        #expect(try await !store.purge(keeping: AuditRetention(), of: device.user, atMost: 9, at: 0))
        #expect(try await store.challengeKey().count == 32)
        #expect(try await store.challengeKey() == home.open(ifMissing: .refuse).challengeKey())
        #expect(try await store.use(.another(), audit: nil))
    }
}
