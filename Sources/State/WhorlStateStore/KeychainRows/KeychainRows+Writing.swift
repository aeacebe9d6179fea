// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import WhorlSQLite
package import WhorlService

/// Functions that store items.
extension KeychainRows {
    package func add(
        _ new: [NewKeychainRow],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome {
        let database = try created()
        let keys = database.keys
        let now = Date().timeIntervalSince1970
        return try outcome(database) { db throws in
            try remove(replacing, db, keys)
            try StorageQuota.standard.check(adding: new.reduce(0) { $0 + $1.size }, db)
            var stored: [KeychainRow] = []
            for item in new {
                let item = item.dated(now)
                if let conflict = try conflict(of: item.record, db, keys) { return .failure(conflict) }
                let row = try StoredRow(id: StoredRow.newID(), profile: profile, item, keys)
                try row.insert(db, keys)
                stored.append(row.row(withValue: false, keys))
            }
            return .success(stored)
        }
    }

    /// Performs a transaction and rolls it back unless it stores all rows.
    func outcome(
        _ database: StateDatabase,
        _ body: (Database) throws -> Result<[KeychainRow], Conflict>
    ) throws(ServiceError) -> KeychainOutcome {
        switch try database.transactionBlocking(.full, body) {
        case .success(let rows): .stored(rows)
        case .failure(let conflict): conflict.outcome
        }
    }

    /// Deletes the rows that still have these versions and that the program may use.
    func remove(_ versions: [KeychainRowVersion], _ db: Database, _ keys: StateKeys) throws {
        for version in versions where try row(version, db, keys) != nil {
            try StoredRow.delete(version.id, db)
        }
    }

    /// Returns the row if it still has this version and the program may use it.
    func row(_ version: KeychainRowVersion, _ db: Database, _ keys: StateKeys) throws -> StoredRow? {
        let row = try db.first(
            sql: "SELECT \(StoredRow.selected), value FROM keychain_items WHERE id = ? AND profile = ?",
            arguments: [version.id, profile]
        ) { StoredRow($0, of: profile, keys) }
        guard let row = row ?? nil, row.version == version,
            groups.containsBytes(of: row.record.accessGroup)
        else { return nil }
        return row
    }

    // MARK: - Conflicts

    /// The reason why a row cannot be written.
    enum Conflict: Error {
        case groupRefused
        case noPasscode
        case taken(KeychainRow)
        case stale

        var outcome: KeychainOutcome {
            switch self {
            case .groupRefused: .groupRefused
            case .noPasscode: .noPasscode
            case .taken(let row): .taken(by: row)
            case .stale: .stale
            }
        }
    }

    /// Returns the conflict that prevents writing a record, if any.
    ///
    /// `own` is the number of the row to overwrite, if that row exists. A damaged row is not a conflict, because it is
    /// deleted.
    func conflict(
        of record: KeychainRecord,
        at own: Int64? = nil,
        _ db: Database,
        _ keys: StateKeys
    ) throws -> Conflict? {
        guard groups.containsBytes(of: record.accessGroup) else { return .groupRefused }
        // Read this in the transaction that stores the item, because a passcode is removed together with the items that
        // need it.
        if record.accessible == "akpu", try !OwnerPasscode.isSet(of: profile, db) { return .noPasscode }
        let taken = try db.first(
            sql: "SELECT \(StoredRow.selected), value FROM keychain_items WHERE name = ? AND id IS NOT ?",
            arguments: [keys.code(for: record.identity(of: profile), .keychainRows), own]
        ) { row in (id: try row.column(0) as Int64, row: StoredRow(row, of: profile, keys)) }
        guard let (id, row) = taken else { return nil }
        if let row, try isFindable(row, db, keys) {
            return .taken(row.row(withValue: false, keys))
        }
        try StoredRow.delete(id, db)
        return nil
    }

    /// Returns whether queries can find a row by its columns and the row's value can be decrypted.
    ///
    /// If an index column was edited, queries cannot find the row, and if the value was edited, the item cannot be
    /// used.
    private func isFindable(_ row: StoredRow, _ db: Database, _ keys: StateKeys) throws -> Bool {
        if case .sealed = row.contents, row.value(keys) == nil { return false }
        var match = KeychainMatch(row.record.itemClass, groups: [row.record.accessGroup])
        match.attributes = row.record.attributes
        match.isSynchronizable = row.record.isSynchronizable
        return try match.rows(db, of: profile, keys, withValues: false).contains { $0.id == row.id }
    }
}

extension NewKeychainRow {
    /// The size of those parts of the row that a client chose, in bytes.
    fileprivate var size: Int {
        let value =
            switch contents {
            case .plain(let value): value.count
            case .sealed(let item): item.encoded.count
            }
        return record.encoded.count + value
    }

    /// Returns the item, with the creation and modification dates added if they are missing.
    fileprivate func dated(_ seconds: Double) -> NewKeychainRow {
        var dated = self
        for date in ["cdat", "mdat"] where record.attributes[date] == nil {
            dated.record.attributes[date] = .date(seconds)
        }
        return dated
    }
}

/// Functions that change items.
extension KeychainRows {
    package func update(
        _ changes: [KeychainRowChange],
        replacing: [KeychainRowVersion]
    ) throws(ServiceError) -> KeychainOutcome {
        guard let database = try existing() else { return changes.isEmpty ? .stored([]) : .stale }
        let keys = database.keys
        return try outcome(database) { db throws in
            // Compare all rows before the first one is written, because it would look changed afterwards.
            for change in changes where try row(change.version, db, keys) == nil { return .failure(.stale) }
            try remove(replacing, db, keys)
            try StorageQuota.standard.check(adding: changes.reduce(0) { $0 + $1.new.size }, db)
            var stored: [KeychainRow] = []
            for change in changes {
                let id = change.version.id
                if let conflict = try conflict(of: change.new.record, at: id, db, keys) {
                    return .failure(conflict)
                }
                let row = try StoredRow(id: id, profile: profile, change.new, keys)
                try row.replace(db, keys)
                guard db.changesCount == 1 else { return .failure(.stale) }
                stored.append(row.row(withValue: false, keys))
            }
            return .success(stored)
        }
    }
}
