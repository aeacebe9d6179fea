// SPDX-License-Identifier: Apache-2.0

package import WhorlSQLite
import WhorlService

/// The room that the items of one state directory may take; in the system's service that is one user's.
///
/// It is checked where something is added, and not for what the service itself writes down: a user whose room is used up
/// still has each try charged and each touch logged.
package struct StorageQuota: Sendable {
    /// The quota that the service and programs have.
    package static let standard = StorageQuota(bytes: 512 << 20, items: 50_000)

    /// The most bytes of the database.
    let bytes: Int
    /// The most items and rows.
    let items: Int

    /// Returns if there is room for more.
    ///
    /// - Parameters:
    ///   - size: The number of bytes that are added.
    ///   - db: The database.
    /// - Throws: `quotaReached`.
    package func check(adding size: Int, _ db: Database) throws {
        let pages = try db.value(sql: "PRAGMA page_count") ?? 0
        let free = try db.value(sql: "PRAGMA freelist_count") ?? 0
        let pageSize = try db.value(sql: "PRAGMA page_size") ?? 0
        let used = (pages - free) * pageSize
        guard used + size <= bytes else {
            throw refusal("Its database has \(used >> 20) MiB, and \(bytes >> 20) MiB are the most.")
        }
        // So many items take more room than this: counting is spared until then.
        guard used > items * 64 else { return }
        for table in ["vault_items", "keychain_items", "opt_outs"] {
            let count = try db.value(sql: "SELECT count(*) FROM \(table)") ?? 0
            guard count < items else {
                throw refusal("It has \(count) items of one kind, and no more may be added.")
            }
        }
    }

    private func refusal(_ why: String) -> ServiceError {
        ServiceError(.quotaReached, "whorl.sqlite", cause: why)
    }
}
