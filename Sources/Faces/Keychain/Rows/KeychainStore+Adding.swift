// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import StateStore

/// Storing items.
extension KeychainStore {
    /// Stores an item.
    ///
    /// The dates of creation and modification are set to the current time if the record has none.
    ///
    /// - Parameters:
    ///   - record: The record, whose access group must be one of ``groups``.
    ///   - contents: The value.
    ///   - isDead: Whether the chip reports that an existing item with the same identifying attributes can never be
    ///     opened again; if so, the new item replaces it.
    /// - Returns: The item as it is stored.
    /// - Throws: `errSecDuplicateItem`; `errSecNotAvailable` if the item needs a passcode and none is set, and if
    ///   nothing can be stored; `errSecDiskFull`, `errSecIO`.
    package func add(
        _ record: ItemRecord,
        _ contents: NewContents,
        unless isDead: (KeychainItem) throws(KeychainError) -> Bool = { _ in false }
    ) throws(KeychainError) -> KeychainItem {
        let database = try self.database(creating: true)
        let now = Date().timeIntervalSince1970
        var record = record
        for date in ["cdat", "mdat"] where record.attributes[date] == nil {
            record.attributes[date] = .date(now)
        }
        for _ in 0..<3 {
            let outcome = try transaction(database) { db in
                try insert(record, contents, db, database.keys)
            }
            switch outcome {
            case .success(let item): return item
            case .failure(let conflict): try makeRoom(conflict, unless: isDead)
            }
        }
        throw KeychainError(errSecDuplicateItem)
    }

    /// The value that an item is made with.
    package enum NewContents: Sendable {
        /// A value that the store encrypts.
        case plain(Data)
        /// A value that is already sealed.
        case sealed(ItemContents)
    }

    /// A reason for which a row cannot be written.
    enum Conflict: Error {
        case noPasscode
        /// Another row has the same identifying attributes: its number, and its item; `nil` if the row is damaged.
        case taken(Int64, KeychainItem?)
    }

    /// Deletes the row that conflicts with a new record, if it is damaged or can never be opened again.
    ///
    /// - Throws: `errSecDuplicateItem` for any other row, `errSecNotAvailable` without a passcode.
    func makeRoom(
        _ conflict: Conflict,
        unless isDead: (KeychainItem) throws(KeychainError) -> Bool
    ) throws(KeychainError) {
        guard case .taken(let id, let item) = conflict else { throw KeychainError(errSecNotAvailable) }
        if let item, try !isDead(item) { throw KeychainError(errSecDuplicateItem) }
        try delete([id])
    }

    private func insert(
        _ record: ItemRecord,
        _ contents: NewContents,
        _ db: Database,
        _ keys: StateKeys
    ) throws -> Result<KeychainItem, Conflict> {
        if let conflict = try conflict(of: record, db, keys) { return .failure(conflict) }
        let id = KeychainItem.newID()
        let sealed: ItemContents =
            switch contents {
            case .plain(let value):
                .sealed(try ValueSeal(keys: keys).seal(value, for: id, of: parts.profile, record.encoded))
            case .sealed(let contents): contents
            }
        let item = KeychainItem(id: id, profile: parts.profile, record: record, contents: sealed)
        try item.insert(db, keys)
        return .success(item)
    }

    /// Returns the conflict that prevents writing a record, if any; `own` is the number of the row that is overwritten,
    /// if it exists.
    func conflict(
        of record: ItemRecord,
        at own: Int64? = nil,
        _ db: Database,
        _ keys: StateKeys
    ) throws -> Conflict? {
        if record.accessible == "akpu", try !hasPasscode(db) { return .noPasscode }
        let taken = try ItemColumns.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT \(KeychainItem.selected), value FROM keychain_items WHERE name = ? AND id IS NOT ?
                    """
            ),
            arguments: [keys.code(for: record.identity(of: parts.profile), .keychainRows), own]
        )
        guard let taken, let id = Int64.fromDatabaseValue(taken.id) else { return nil }
        let item = try KeychainItem(taken, of: parts.profile, keys).flatMap { try findable($0, db, keys) }
        return .taken(id, item)
    }

    /// Returns the item if queries find it by its columns and its value decrypts: no query finds an item whose index
    /// column was edited, and an item whose value was edited is unusable.
    private func findable(_ item: KeychainItem, _ db: Database, _ keys: StateKeys) throws -> KeychainItem? {
        if case .sealed = item.contents, item.value(keys) == nil { return nil }
        var match = ItemMatch(item.record.itemClass, groups: [item.record.accessGroup])
        match.attributes = item.record.attributes
        match.isSynchronizable = item.record.isSynchronizable
        return try match.items(db, of: parts.profile, keys, withValues: false)
            .contains { $0.id == item.id } ? item : nil
    }

    /// Returns whether the profile has a passcode, read in the transaction that stores the item, since a passcode is
    /// removed together with the items that need it.
    private func hasPasscode(_ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: "SELECT EXISTS (SELECT 1 FROM vault_passcodes WHERE profile = ?)",
            arguments: [parts.profile]
        ) ?? false
    }
}
