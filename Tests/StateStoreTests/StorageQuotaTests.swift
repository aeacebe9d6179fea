// SPDX-License-Identifier: Apache-2.0

import Foundation
import WhorlSQLite
import Testing
import WhorlService

@testable import WhorlStateStore

@Suite struct `The room of one user's items` {
    private func database() throws -> (StateDatabase, URL) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "whorl-quota-\(UUID())")
        return (try StateDatabase(directory: StateDirectory(path: folder.path)), folder)
    }

    private func code(_ quota: StorageQuota, adding size: Int, _ database: StateDatabase) async
        -> ServiceError
        .Code?
    {
        do throws(ServiceError) {
            try await database.write { try quota.check(adding: size, $0) }
            return nil
        } catch {
            return error.code
        }
    }

    // Docs/Security.md: C13a
    @Test func `has an end, with an error of its own`() async throws {
        let (database, folder) = try database()
        defer { try? FileManager.default.removeItem(at: folder) }
        let quota = StorageQuota(bytes: 1 << 20, items: 100)
        #expect(await code(quota, adding: 1000, database) == nil)
        #expect(await code(quota, adding: 1 << 20, database) == .quotaReached)
    }

    @Test func `has an end for their number`() async throws {
        let (database, folder) = try database()
        defer { try? FileManager.default.removeItem(at: folder) }
        let quota = StorageQuota(bytes: 1 << 30, items: 50)
        for number in 0..<50 {
            #expect(await code(quota, adding: 10, database) == nil)
            try await database.write { db in
                try db.execute(
                    sql: "INSERT INTO opt_outs (profile, application) VALUES ('ada', ?)",
                    arguments: ["app \(number)"]
                )
            }
        }
        #expect(await code(quota, adding: 10, database) == .quotaReached)
    }

    @Test func `is room for 20,000 items and 256 MiB at least`() {
        #expect(StorageQuota.standard.items >= 20_000)
        #expect(StorageQuota.standard.bytes >= 256 << 20)
    }
}
