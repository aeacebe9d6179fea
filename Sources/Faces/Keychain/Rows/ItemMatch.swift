// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import StateStore

/// Which items are meant.
package struct ItemMatch: Sendable, Hashable {
    /// The access groups that are looked into.
    package var groups: [String]
    /// The class.
    package var itemClass: ItemClass
    /// The one row, where a persistent reference names it.
    package var id: Int64?
    /// What the attributes must be; a missing one is the same as an empty one.
    package var attributes: [String: AttributeValue] = [:]
    /// What `kSecAttrAccessible` must be.
    package var accessible: String?
    /// Whether items are meant that may leave the device; `nil` for both kinds.
    package var isSynchronizable: Bool? = false
    /// Whether items are left out for which somebody must show something.
    package var leavesOutProtected = false
    /// Rows that are left out: what can never be opened again, or was edited.
    var leftOut: Set<Int64> = []

    /// All items of a class in some groups.
    package init(_ itemClass: ItemClass, groups: [String]) {
        self.itemClass = itemClass
        self.groups = groups
    }

    /// Whether an item is meant, whatever a column says.
    func covers(_ item: KeychainItem) -> Bool {
        let record = item.record
        return record.itemClass == itemClass && groups.containsBytes(of: record.accessGroup)
            && record.matches(attributes)
            && accessible.map { $0 == record.accessible } ?? true
            && isSynchronizable.map { $0 == record.isSynchronizable } ?? true
            && !(leavesOutProtected && record.protection.isConstrained) && !leftOut.contains(item.id)
    }

    /// The statement that finds candidates with an index, and its arguments.
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
                // Rows may have the same bytes as a text.
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

    /// The items that are meant: older ones first where all are wanted, and else those of the first group first.
    ///
    /// Rows that are not what Whorl wrote are left out.
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
        // What lies in the first group, the program's own, comes before the same item in a shared one.
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

    /// The items that are meant, in the order of an index.
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
    /// Whether one of the texts has the same bytes: for Swift, texts that look alike are equal.
    func containsBytes(of text: String) -> Bool {
        contains { $0.utf8.elementsEqual(text.utf8) }
    }
}
