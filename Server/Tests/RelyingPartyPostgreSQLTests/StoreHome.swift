// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import RelyingParty
@testable import RelyingPartyPostgreSQL

/// The stores of this target's tests; those beside, which are RelyingParty's own, run on PostgreSQL here.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite
    case postgresql

    var testDescription: String { rawValue }

    /// The store of tests that look at something else.
    static let usual = StoreKind.sqlite
    /// Each store that a test of a store runs on.
    static var all: [StoreKind] { PostgreSQLServer.isAvailable ? [.postgresql] : [] }
}

/// A place of a test's own for a store, which may be opened several times.
final class StoreHome: Sendable {
    let directory: String
    let url: String?

    init(_ kind: StoreKind) throws {
        directory = FileManager.default.temporaryDirectory.path + "/whorl-login-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        switch kind {
        case .sqlite: url = nil
        case .postgresql: url = try PostgreSQLServer.shared.get().database()
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    var path: String { directory + "/login.sqlite" }

    func open(ifMissing: MissingDatabase = .create) async throws -> any RelyingPartyStore {
        guard let url else { return try SQLiteRelyingPartyStore(path: path, ifMissing: ifMissing) }
        // A busy machine may take its time.
        return try await PostgreSQLRelyingPartyStore(
            url: url,
            connections: 3,
            patience: 60,
            ifMissing: ifMissing
        )
    }
}

extension Bank {
    /// The number of rows of each table.
    func rows() async throws -> [String: Int] {
        let store = try #require(party.store as? PostgreSQLRelyingPartyStore)
        return try await store.pool.perform { connection throws(PostgreSQLFailure) in
            var counts: [String: Int] = [:]
            for table in ["used_nonces", "tries", "devices", "audit", "documents"] {
                counts[table] = try connection.run("SELECT count(*) FROM whorl_login.\(table)", []).int(0, 0)
            }
            return counts
        }
    }
}
