// SPDX-License-Identifier: Apache-2.0

package import WhorlSQLite
import WhorlService

/// The storage limit for the items in one state directory.
///
/// In the system service, each directory belongs to one user.
///
/// The limit is checked when an item is added, but not when the service writes its own records. Even if a user has
/// reached the limit, each attempt is therefore still counted and each touch is still logged.
package struct StorageQuota: Sendable {
    /// The quota used by the service and by programs.
    package static let standard = StorageQuota(bytes: 512 << 20, items: 50_000)

    /// The maximum size of the database in bytes.
    let bytes: Int
    /// The maximum number of items and rows.
    let items: Int

    /// Checks that there is room for another item.
    ///
    /// - Parameters:
    ///   - size: The number of bytes to add.
    ///   - db: The database.
    /// - Throws: `quotaReached`.
    package func check(adding size: Int, _ db: Database) throws {
        let pages = try db.value(sql: "PRAGMA page_count") ?? 0
        let free = try db.value(sql: "PRAGMA freelist_count") ?? 0
        let pageSize = try db.value(sql: "PRAGMA page_size") ?? 0
        let used = (pages - free) * pageSize
        guard used + size <= bytes else {
            throw refusal("Its database has \(used >> 20) MiB, and the limit is \(bytes >> 20) MiB.")
        }
        // This many items take more space than this, so counting can be skipped until then.
        guard used > items * 64 else { return }
        for table in ["vault_items", "keychain_items", "opt_outs"] {
            let count = try db.value(sql: "SELECT count(*) FROM \(table)") ?? 0
            guard count < items else {
                throw refusal("It has \(count) items of one kind, which is the limit.")
            }
        }
    }

    private func refusal(_ why: String) -> ServiceError {
        ServiceError(.quotaReached, "whorl.sqlite", cause: why)
    }
}
