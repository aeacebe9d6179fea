// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import LoginAssertion
import Testing

@testable import RelyingParty
@testable import RelyingPartyPostgreSQL

/// A database that version 1 of the schema made and used is opened, and all in it is as it was.
@Suite struct `A database of an earlier version` {
    private let device = Device()

    /// Takes away what later versions have added.
    private func makeFirst(_ home: StoreHome, _ kind: StoreKind) async throws {
        let store = try await home.open()
        _ = try await store.register(device.registered, provided: nil, atMost: 9, audit: device.entry)
        _ = try await store.setDocument("keys", to: Data([1]), ifWas: nil)
        let undo = """
            DROP INDEX PLACE.audit_refused_passwords; DROP INDEX PLACE.audit_others;
            ALTER TABLE PLACE.devices DROP COLUMN approved;
            """
        switch kind {
        case .sqlite:
            try await DatabaseQueue(path: home.path).writeWithoutTransaction { db in
                try db.execute(sql: undo.replacingOccurrences(of: "PLACE", with: "main"))
                try db.execute(sql: "PRAGMA user_version = 1")
                _ = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
        case .postgresql:
            let connection = try PostgreSQLConnection.open(url: try #require(home.url))
            try connection.run(undo.replacingOccurrences(of: "PLACE", with: "whorl_login"))
            try connection.run("UPDATE whorl_login.meta SET value = '1' WHERE name = 'version'")
        }
    }

    @Test(arguments: StoreKind.all)
    func `is brought up to date once, where many open it together`(_ kind: StoreKind) async throws {
        let home = try StoreHome(kind)
        try await makeFirst(home, kind)
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
        #expect(try await !store.purge(keeping: 1, atMost: 9, at: 0))
    }
}
