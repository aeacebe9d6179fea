// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import StateStore

/// A filter that selects items.
package struct ItemMatch: Sendable, Hashable {
    /// The access groups that are searched.
    package var groups: [String]
    /// The class.
    package var itemClass: ItemClass
    /// The number of the only row, if a persistent reference names it.
    package var id: Int64?
    /// The required attributes; a missing attribute equals an empty one.
    package var attributes: [String: AttributeValue] = [:]
    /// The required value of `kSecAttrAccessible`; `nil` for any.
    package var accessible: String?
    /// Whether to select items that may leave the device; `nil` selects both kinds.
    package var isSynchronizable: Bool? = false
    /// Whether to leave out items for which the owner must authenticate.
    package var leavesOutProtected = false
    /// The numbers of rows to leave out: items that can never be opened again, or that were tampered with.
    var leftOut: Set<Int64> = []

    /// Selects all items of a class in the given groups.
    package init(_ itemClass: ItemClass, groups: [String]) {
        self.itemClass = itemClass
        self.groups = groups
    }

    /// Whether the filter selects an item, judged by its record and not by the index columns.
    func covers(_ item: KeychainItem) -> Bool {
        let record = item.record
        return record.itemClass == itemClass && groups.containsBytes(of: record.accessGroup)
            && record.matches(attributes)
            && accessible.map { $0 == record.accessible } ?? true
            && isSynchronizable.map { $0 == record.isSynchronizable } ?? true
            && !(leavesOutProtected && record.protection.isConstrained) && !leftOut.contains(item.id)
    }

    /// Returns the statement that finds candidates with an index, and its arguments.
    func statement(_ profile: String, withValues: Bool) -> (sql: String, arguments: StatementArguments) {
        var sql = ""
        sql.reserveCapacity(256)
        sql += withValues ? ItemMatch.selectingValues : ItemMatch.selectingTags
        if let id { return (sql + "id = ? AND profile = ?", [id, profile]) }
        sql += "profile = ? AND agrp IN ("
        for index in groups.indices { sql += index == 0 ? "?" : ", ?" }
        sql += ") AND class = ?"
        var arguments: [(any DatabaseValueConvertible)?] = [profile]
        for group in groups { arguments.append(group) }
        arguments.append(itemClass.rawValue)
        for name in KeychainItem.columns {
            guard let wanted = attributes[name], !wanted.isDefault else { continue }
            sql += " AND "
            sql += name
            if case .data(let bytes) = wanted, itemClass.ofBytes.contains(name) {
                // Rows may store the same bytes as a text.
                sql += " IN (?, ?)"
                arguments.append(AttributeValue.encodedText(bytes))
            } else {
                sql += " = ?"
            }
            arguments.append(wanted.encoded)
        }
        return (sql, StatementArguments(arguments))
    }

    private static let selectingValues = "SELECT \(KeychainItem.selected), value FROM keychain_items WHERE "
    private static let selectingTags =
        "SELECT \(KeychainItem.selected), CASE sealing WHEN 1 THEN substr(value, -16) ELSE value END "
        + "FROM keychain_items WHERE "

    /// Returns the selected items: oldest first without a limit, and those of the first group first with one.
    ///
    /// Rows that Whorl did not write, or that were changed afterwards, are left out.
    func items(
        _ db: Database,
        of profile: String,
        _ keys: StateKeys,
        withValues: Bool,
        limit: Int = .max
    ) throws -> [KeychainItem] {
        guard limit < .max else {
            return try rows(db, of: profile, keys, withValues: withValues, limit: limit)
                .sorted { $0.id < $1.id }
        }
        // Items of the first group, the program's own, come before the same items in a shared group.
        var found: [KeychainItem] = []
        for group in groups where found.count < limit {
            var match = self
            match.groups = [group]
            found += try match.rows(
                db,
                of: profile,
                keys,
                withValues: withValues,
                limit: limit - found.count
            )
        }
        return found
    }

    /// Returns the selected items, in the order of an index.
    private func rows(
        _ db: Database,
        of profile: String,
        _ keys: StateKeys,
        withValues: Bool,
        limit: Int
    ) throws -> [KeychainItem] {
        let (sql, arguments) = statement(profile, withValues: withValues)
        let rows = try ItemColumns.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        var found: [KeychainItem] = []
        while found.count < limit, let columns = try rows.next() {
            guard let item = KeychainItem(columns, of: profile, keys), covers(item) else { continue }
            found.append(item)
        }
        return found
    }
}

extension [String] {
    /// Whether one of the texts has the same bytes: Swift's `==` ignores differences of Unicode normalization.
    func containsBytes(of text: String) -> Bool {
        contains { $0.utf8.elementsEqual(text.utf8) }
    }
}
