// SPDX-License-Identifier: Apache-2.0

internal import WhorlSQLite
import WhorlService

/// Functions that find the rows selected by a filter.
extension KeychainMatch {
    /// Returns whether the filter selects an item, based on its record instead of the index columns.
    func covers(_ item: StoredRow) -> Bool {
        let record = item.record
        return record.itemClass == itemClass && groups.containsBytes(of: record.accessGroup)
            && record.matches(attributes)
            && accessible.map { $0 == record.accessible } ?? true
            && isSynchronizable.map { $0 == record.isSynchronizable } ?? true
            && record.flags & leftOutFlags == 0 && !leftOut.contains(item.id)
    }

    /// Returns the statement that finds candidates by means of an index, and the arguments of the statement.
    func statement(_ profile: String, withValues: Bool) -> (sql: String, arguments: [(any DatabaseValue)?]) {
        var sql = ""
        sql.reserveCapacity(256)
        sql += withValues ? KeychainMatch.selectingValues : KeychainMatch.selectingTags
        if let id { return (sql + "id = ? AND profile = ?", [id, profile]) }
        sql += "profile = ? AND agrp IN ("
        for index in groups.indices { sql += index == 0 ? "?" : ", ?" }
        // The word comes from our own enumeration.
        sql += ") AND class = '"
        sql += itemClass.rawValue
        sql += "'"
        var arguments: [(any DatabaseValue)?] = [profile]
        for group in groups { arguments.append(group) }
        for name in StoredRow.columns {
            guard let wanted = attributes[name], !wanted.isDefault else { continue }
            sql += " AND "
            sql += name
            if case .data(let bytes) = wanted, itemClass.ofBytes.contains(name) {
                // Rows may store the same bytes as text.
                sql += " IN (?, ?)"
                arguments.append(AttributeValue.encodedText(bytes))
            } else {
                sql += " = ?"
            }
            arguments.append(wanted.encoded)
        }
        return (sql, arguments)
    }

    private static let selectingValues = "SELECT \(StoredRow.selected), value FROM keychain_items WHERE "
    static let selectingTags =
        "SELECT \(StoredRow.selected), CASE sealing WHEN 1 THEN substr(value, -16) ELSE value END "
        + "FROM keychain_items WHERE "

    /// Returns the selected rows.
    ///
    /// Without a limit, the oldest rows come first. With a limit, those of the first group come first.
    ///
    /// Rows that Whorl did not write, or that were changed afterward, are excluded.
    func rows(
        _ db: Database,
        of profile: String,
        _ keys: StateKeys,
        withValues: Bool,
        limit: Int = .max
    ) throws -> [StoredRow] {
        let found = try found(db, of: profile, keys, withValues: withValues, limit: limit) { $0 }
        return limit < .max ? found : found.sorted { $0.id < $1.id }
    }

    /// Returns the numbers of the same rows in the same order, with only one row in memory at a time.
    func numbers(_ db: Database, of profile: String, _ keys: StateKeys, limit: Int) throws -> [Int64] {
        let found = try found(db, of: profile, keys, withValues: false, limit: limit) { $0.id }
        return limit < .max ? found : found.sorted()
    }

    /// Returns a part of each selected row in the order of an index.
    private func found<Part>(
        _ db: Database,
        of profile: String,
        _ keys: StateKeys,
        withValues: Bool,
        limit: Int,
        _ part: (StoredRow) -> Part
    ) throws -> [Part] {
        var found: [Part] = []
        guard limit < .max, groups.count > 1 else {
            try index(db, of: profile, keys, withValues: withValues, limit: limit, part, &found)
            return found
        }
        // Items of the first group, the program's own, come before the same items in a shared group.
        for group in groups where found.count < limit {
            var match = self
            match.groups = [group]
            try match.index(db, of: profile, keys, withValues: withValues, limit: limit, part, &found)
        }
        return found
    }

    /// Adds a part of each selected row in the order of an index, until the limit has been reached.
    private func index<Part>(
        _ db: Database,
        of profile: String,
        _ keys: StateKeys,
        withValues: Bool,
        limit: Int,
        _ part: (StoredRow) -> Part,
        _ found: inout [Part]
    ) throws {
        let (sql, arguments) = statement(profile, withValues: withValues)
        guard found.count < limit else { return }
        try db.each(sql: sql, arguments: arguments) { row in
            if let item = StoredRow(row, of: profile, keys), covers(item) { found.append(part(item)) }
            return found.count < limit
        }
    }
}
