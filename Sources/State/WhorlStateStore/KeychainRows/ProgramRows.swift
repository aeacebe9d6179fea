// SPDX-License-Identifier: Apache-2.0

internal import WhorlSQLite
package import WhorlService

/// The keychain rows of all programs of a profile, for the user who wants to see them.
package struct ProgramRows: Sendable {
    private let database: StateDatabase
    private let profile: String
    /// The size of a list, in bytes of a message whose limit is 1 MiB.
    private static let mostBytes = 900 << 10

    /// Creates the rows of a profile.
    package init(_ database: StateDatabase, of profile: String) {
        self.database = database
        self.profile = profile
    }

    /// Returns the descriptions of the rows.
    ///
    /// All access groups have the same share of the list, so that no program's items take the place of another's.
    ///
    /// - Throws: A storage error.
    package func listed() async throws(ServiceError) -> ProgramItems {
        let (profile, keys) = (profile, database.keys)
        return try await database.read { db in
            var items: [String: [ProgramItems.Item]] = [:]
            let groups =
                try db.value(
                    sql: "SELECT COUNT(DISTINCT agrp) FROM keychain_items WHERE profile = ?",
                    arguments: [profile]
                ) as Int?
            let share = Self.mostBytes / max(1, groups ?? 1)
            var rooms: [String: Int] = [:]
            var omitted = 0
            try db.each(
                sql: KeychainMatch.selectingTags + "profile = ? ORDER BY id",
                arguments: [profile]
            ) { row in
                if let row = StoredRow(row, of: profile, keys),
                    row.fits(in: &rooms[row.record.accessGroup, default: share])
                {
                    items[row.record.accessGroup, default: []].append(row.described)
                } else {
                    omitted += 1
                }
                return true
            }
            return ProgramItems(
                programs: items.keys.sorted().map { .init(accessGroup: $0, items: items[$0] ?? []) },
                omitted: omitted
            )
        }
    }

    /// Deletes the row; returns `false` if it is no longer at this version.
    ///
    /// - Throws: A storage error.
    package func delete(_ version: KeychainRowVersion) async throws(ServiceError) -> Bool {
        let profile = profile
        return try await database.write(.full) { db in
            try db.execute(
                sql: "DELETE FROM keychain_items WHERE id = ? AND profile = ? AND mac = ?",
                arguments: [version.id, profile, version.revision]
            )
            return db.changesCount == 1
        }
    }
}

extension StoredRow {
    /// The description of the item.
    fileprivate var described: ProgramItems.Item {
        let name = KeychainItemName(record)
        return ProgramItems.Item(
            version: version,
            kind: name.kind,
            name: name.text,
            needsOwner: contents.isSealedByTPM
        )
    }

    /// Subtracts the item's part of a message from the room; returns `false` if the room is too small.
    fileprivate func fits(in room: inout Int) -> Bool {
        // In JSON, a control character takes six bytes; there are none in the name.
        let size = 6 * record.accessGroup.utf8.count + 2 * KeychainItemName(record).text.utf8.count + 200
        guard size <= room else { return false }
        room -= size
        return true
    }
}
