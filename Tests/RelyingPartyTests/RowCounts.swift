// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import RelyingParty

@testable import RelyingPartyPostgreSQL

extension Bank {
    /// How many rows each table has.
    func rows() async throws -> [String: Int] {
        let tables = ["used_nonces", "tries", "devices", "audit", "documents"]
        guard let postgres = party.store as? PostgreSQLRelyingPartyStore else {
            let queue = try DatabaseQueue(path: home.path)
            return try await queue.read { db in
                try Dictionary(
                    uniqueKeysWithValues: tables.map {
                        ($0, try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") ?? -1)
                    }
                )
            }
        }
        return try await postgres.pool.perform { connection throws(PostgreSQLFailure) in
            var counts: [String: Int] = [:]
            for table in tables {
                counts[table] = try connection.run("SELECT count(*) FROM whorl_login.\(table)", []).int(0, 0)
            }
            return counts
        }
    }
}
