// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import StateStore

/// Storing items.
extension KeychainStore {
    /// Stores an item.
    ///
    /// The dates of making and changing are set where the record has none.
    ///
    /// - Parameters:
    ///   - record: Its access group must be one of ``groups``.
    ///   - contents: The value.
    ///   - isDead: Whether the chip has said that an item which stands in the way can never be opened again; then the new
    ///     one takes its place.
    /// - Returns: The item as it is stored.
    /// - Throws: `errSecDuplicateItem`; `errSecNotAvailable` where the item needs a passcode and none is set, and where
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

    /// What an item is made with.
    package enum NewContents: Sendable {
        /// A value that the store encrypts.
        case plain(Data)
        /// Something that is sealed already.
        case sealed(ItemContents)
    }

    /// Why a row cannot be written.
    enum Conflict: Error {
        case noPasscode
        /// The row's number, and the item; `nil` where the row is damaged.
        case taken(Int64, KeychainItem?)
    }

    /// Deletes the row whose name its owner gives to another item: one that is damaged, or that can never be opened again.
    ///
    /// - Throws: `errSecDuplicateItem` for any other one, `errSecNotAvailable` without a passcode.
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

    /// What keeps a record from being written; `own` is the row that it is written to, when there is one.
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

    /// The item, when its columns lead to it and its value opens: a sound record beside a column that was edited is found
    /// by no query, and one beside a value that was edited is of no use.
    private func findable(_ item: KeychainItem, _ db: Database, _ keys: StateKeys) throws -> KeychainItem? {
        if case .sealed = item.contents, item.value(keys) == nil { return nil }
        var match = ItemMatch(item.record.itemClass, groups: [item.record.accessGroup])
        match.attributes = item.record.attributes
        match.isSynchronizable = item.record.isSynchronizable
        return try match.items(db, of: parts.profile, keys, withValues: false)
            .contains { $0.id == item.id } ? item : nil
    }

    /// A passcode is removed together with the items that need it, so it is looked at where they are stored.
    private func hasPasscode(_ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: "SELECT EXISTS (SELECT 1 FROM vault_passcodes WHERE profile = ?)",
            arguments: [parts.profile]
        ) ?? false
    }
}
