// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import LoginAssertion
import Testing

@testable import RelyingParty
@testable import RelyingPartyPostgreSQL

/// An instance of the version before goes on while those of this one start.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "no PostgreSQL server is installed"))
struct `A PostgreSQL database of an earlier version` {
    private let device = Device()

    /// Makes a database of an earlier version.
    private func make(_ version: Int, _ home: StoreHome) async throws {
        let store = try await home.open()
        _ = try await store.register(device.registered, audit: device.entry)
        try await home.goBack(to: version)
    }

    @Test
    func `whose instance gives an attested device another key beside one of this tells nothing of it`()
        async throws
    {
        let home = try StoreHome(.postgresql)
        try await make(3, home)
        // The statement of the version before, on a connection that it opened before.
        var old = try PostgreSQLConnection.open(url: try #require(home.url))
        let store = try await home.open(ifMissing: .refuse)
        let chip = SoftChip()
        let proof = KeyAttestation(
            level: .tpm,
            fingers: .current,
            takesPasscode: true,
            policy: Data(repeating: 1, count: 32)
        )
        let attested = RegisteredDevice(
            user: device.user,
            device: device.name,
            key: device.key,
            name: "a laptop",
            enabledAt: 1,
            lastUsedAt: nil,
            domainState: nil,
            attestation: proof
        )
        _ = try await store.register(attested, audit: device.entry)
        #expect(try await store.devices(of: device.user).map(\.attestation) == [proof])
        let key = try #require(LoginKey(x963: chip.signer.publicKey.x963Representation))
        let enable = """
            INSERT INTO whorl_login.devices
                ("user", device, key_id, key, name, enabled_at, last_used_at, domain_state, approved)
                VALUES ('ada', 'laptop', $1, $2, 'a laptop', 2, NULL, NULL, NULL)
                ON CONFLICT ("user", device) DO UPDATE SET
                    key_id = excluded.key_id, key = excluded.key, enabled_at = excluded.enabled_at
            """
        _ = try old.run(enable, [.text(key.id), .bytes(key.der)])
        let found = try await store.devices(of: device.user)
        #expect(found.map(\.key) == [key])
        #expect(found.map(\.attestation) == [nil])
    }

    @Test
    func `serves an instance of the version before beside one of this, and no challenge signs in at both`()
        async throws
    {
        let home = try StoreHome(.postgresql)
        try await make(2, home)
        // The statements of the version before, on a connection that it opened before.
        var old = try PostgreSQLConnection.open(url: try #require(home.url))
        let digest = PostgreSQLValue.bytes(Data(repeating: 1, count: 32))
        let issue = """
            INSERT INTO whorl_login.challenges (digest, "user", device, use, expires_at)
                SELECT $1, 'ada', 'laptop', 'login', $2 FROM set_config('synchronous_commit', 'off', true)
                ON CONFLICT ("user", device, use)
                DO UPDATE SET digest = excluded.digest, expires_at = excluded.expires_at
            """
        let take = """
            WITH taken AS (
                DELETE FROM whorl_login.challenges WHERE digest = $1 RETURNING "user", device, use, expires_at
            )
            SELECT taken."user", devices.approved
                FROM taken LEFT JOIN whorl_login.devices ON devices."user" = taken."user"
                    AND (taken.device = '' OR devices.device = taken.device)
            """
        for _ in 0..<2 {
            _ = try old.run(issue, [digest, .int(9)])
            let store = try await home.open(ifMissing: .refuse)
            let taken = try old.run(take, [digest]).count
            let again = try old.run(take, [digest]).count
            #expect((taken, again) == (1, 0))
            #expect(try await store.devices(of: device.user) == [device.registered])
        }
    }
}
