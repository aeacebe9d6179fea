// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import GRDB
import LoginAssertion
import Testing

@testable import RelyingParty
@testable import RelyingPartyPostgreSQL

/// A database that an earlier version of the schema made and used is opened, and all in it is as it was.
@Suite struct `A database of an earlier version` {
    private let device = Device()

    /// The tables as version 2 had them; a challenge is open.
    private static func second(_ kind: StoreKind) -> String {
        switch kind {
        case .sqlite:
            """
            DELETE FROM documents WHERE name = 'challenge-key'; DROP TABLE used_nonces;
            CREATE INDEX audit_others ON audit (id) WHERE event <> 'password_refused';
            CREATE TABLE challenges (
                digest BLOB PRIMARY KEY CHECK (length(digest) = 32), user TEXT NOT NULL, device TEXT NOT NULL,
                use TEXT NOT NULL CHECK (use IN ('enable', 'login', 'raw')), expires_at INTEGER NOT NULL,
                UNIQUE (user, device, use)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX challenges_by_end ON challenges (expires_at);
            INSERT INTO challenges VALUES (zeroblob(32), 'ada', 'laptop', 'login', 1);
            """
        case .postgresql:
            """
            DELETE FROM whorl_login.documents WHERE name = 'challenge-key'; DROP TABLE whorl_login.used_nonces;
            INSERT INTO whorl_login.challenges VALUES (sha256(''), 'ada', 'laptop', 'login', 1);
            """
        }
    }

    /// What version 2 has added to version 1 is taken away.
    private static let first = """
        DROP INDEX PLACE.audit_refused_passwords; DROP INDEX PLACE.audit_others;
        ALTER TABLE PLACE.devices DROP COLUMN approved;
        """

    /// What version 4 has added to version 3 is taken away.
    private static let third = "ALTER TABLE PLACE.devices DROP COLUMN attested;"

    /// Makes a database of an earlier version.
    private func make(_ version: Int, _ home: StoreHome, _ kind: StoreKind) async throws {
        let store = try await home.open()
        _ = try await store.register(device.registered, audit: device.entry)
        _ = try await store.setDocument("keys", to: Data([1]), ifWas: nil)
        let undo =
            Self.third + (version < 3 ? Self.second(kind) : "") + (version == 1 ? Self.first : "")
        switch kind {
        case .sqlite:
            try await DatabaseQueue(path: home.path).writeWithoutTransaction { db in
                try db.execute(sql: undo.replacingOccurrences(of: "PLACE", with: "main"))
                try db.execute(sql: "PRAGMA user_version = \(version)")
                _ = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
        case .postgresql:
            let connection = try PostgreSQLConnection.open(url: try #require(home.url))
            try connection.run(undo.replacingOccurrences(of: "PLACE", with: "whorl_login"))
            try connection.run("UPDATE whorl_login.meta SET value = '\(version)' WHERE name = 'version'")
        }
    }

    @Test(arguments: StoreKind.all, [1, 2, 3])
    func `is brought up to date once, where many open it together`(
        _ kind: StoreKind,
        version: Int
    ) async throws {
        let home = try StoreHome(kind)
        try await make(version, home, kind)
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

    @Test(.enabled(if: PostgreSQLServer.isAvailable, "no PostgreSQL server is installed"))
    func `whose instance gives an attested device another key beside one of this tells nothing of it`()
        async throws
    {
        let home = try StoreHome(.postgresql)
        try await make(3, home, .postgresql)
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

    @Test(.enabled(if: PostgreSQLServer.isAvailable, "no PostgreSQL server is installed"))
    func `serves an instance of the version before beside one of this, and no challenge signs in at both`()
        async throws
    {
        let home = try StoreHome(.postgresql)
        try await make(2, home, .postgresql)
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
