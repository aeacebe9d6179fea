// SPDX-License-Identifier: Apache-2.0

internal import Authentication
package import AuthenticationContext
internal import GRDB
internal import StateStore

/// The rows of the keychain: one profile's, in the access groups of one program.
///
/// It asks nobody: what opens an item is for those above. Its calls block their caller for as long as the database takes,
/// may be made from any thread, and each one is a transaction of its own.
package struct KeychainStore: Sendable {
    let parts: ContextParts

    /// The rows that a program may use.
    package init(_ parts: ContextParts) { self.parts = parts }

    /// The program's access groups; the first one is where items go that name none.
    package var groups: [String] { [parts.application.rawValue] + parts.accessGroups }

    /// The group that a dictionary names, or the program's own.
    ///
    /// - Throws: `errSecMissingEntitlement` for a group that the program may not use.
    package func group(_ named: String?) throws(KeychainError) -> String {
        guard let named, !named.isEmpty else { return groups[0] }
        guard groups.contains(named) else { throw KeychainError(errSecMissingEntitlement) }
        return named
    }

    // MARK: - Adding

    /// Stores an item.
    ///
    /// The dates of making and changing are set where the record has none.
    ///
    /// - Parameters:
    ///   - record: Its access group must be one of ``groups``.
    ///   - contents: The value.
    ///   - isDead: Whether an item that stands in the way can never be opened again; then it makes room.
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
            case .failure(let conflict):
                guard case .taken(let id, let item) = conflict else {
                    throw KeychainError(errSecNotAvailable)
                }
                // A row that nobody can find or open must not keep another one out.
                if let item, try !isDead(item) { throw KeychainError(errSecDuplicateItem) }
                try delete([id])
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

    /// What an item becomes.
    package struct Change: Sendable {
        let record: ItemRecord
        let contents: NewContents

        /// Describes a change.
        package init(_ record: ItemRecord, _ contents: NewContents) {
            self.record = record
            self.contents = contents
        }
    }

    private enum Conflict: Error {
        case noPasscode
        /// The row's number, and the item; `nil` where the row is damaged.
        case taken(Int64, KeychainItem?)
    }

    private func insert(
        _ record: ItemRecord,
        _ contents: NewContents,
        _ db: Database,
        _ keys: StateKeys
    ) throws -> Result<KeychainItem, Conflict> {
        if record.accessible == "akpu", try !hasPasscode(db) { return .failure(.noPasscode) }
        let name = keys.code(for: record.identity(of: parts.profile), .keychainRows)
        let taken = try ItemColumns.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT \(KeychainItem.selected), value FROM keychain_items WHERE name = ?
                    """
            ),
            arguments: [name]
        )
        if let taken {
            let item = try KeychainItem(taken, of: parts.profile, keys).flatMap { try findable($0, db, keys) }
            return .failure(.taken(Int64.fromDatabaseValue(taken.id) ?? 0, item))
        }
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

    // MARK: - Finding

    /// The items that are meant.
    ///
    /// - Parameters:
    ///   - match: Its groups must be among ``groups``.
    ///   - withValues: Whether ``value(of:)`` will be asked for; without it, less is read.
    ///   - limit: How many at most.
    /// - Returns: Older ones first, where all are wanted.
    /// - Throws: `errSecNotAvailable`, `errSecIO`.
    package func items(
        _ match: ItemMatch,
        withValues: Bool,
        limit: Int = .max
    ) throws(KeychainError) -> [KeychainItem] {
        guard let database = try existing() else { return [] }
        do {
            return try database.readBlocking { db in
                try match.items(
                    db,
                    of: parts.profile,
                    database.keys,
                    withValues: withValues,
                    limit: limit
                )
            }
        } catch {
            throw KeychainError(error)
        }
    }

    /// The value of an item that the store encrypts, which was read with its value.
    ///
    /// - Throws: `errSecInvalidRecord` for what does not decrypt, and for what the chip keeps.
    package func value(of item: KeychainItem) throws(KeychainError) -> Data {
        guard let value = try soundValue(of: item) else { throw KeychainError(errSecInvalidRecord) }
        return value
    }

    /// As ``value(of:)``; `nil` for what does not decrypt, since somebody edited it: the row's code covers its end alone.
    func soundValue(of item: KeychainItem) throws(KeychainError) -> Data? {
        guard let database = try existing() else { return nil }
        return item.value(database.keys)
    }

    // MARK: - Changing and deleting

    /// Puts other records and values in the place of those that are there.
    ///
    /// - Parameters:
    ///   - match: Which items.
    ///   - change: What an item becomes; `nil` where that is not known, since somebody else was faster. It gets items with
    ///     their values.
    /// - Returns: How many were changed; `nil` where `change` gave `nil` for one of them, and then nothing was changed.
    /// - Throws: `errSecDuplicateItem` where two would be the same, and then nothing was changed; as ``add(_:_:unless:)``.
    package func update(
        _ match: ItemMatch,
        _ change: (KeychainItem) throws(KeychainError) -> Change?
    ) throws(KeychainError) -> Int? {
        guard let database = try existing() else { return 0 }
        let keys = database.keys
        let outcome = try transaction(database) { db -> Result<Int, Hindrance> in
            var count = 0
            for item in try match.items(db, of: parts.profile, keys, withValues: true) {
                let new: Change?
                do throws(KeychainError) {
                    new = try change(item)
                } catch {
                    return .failure(.error(error))
                }
                guard let new else { return .failure(.unknown) }
                if let error = try replace(item, new, db, keys) { return .failure(.error(error)) }
                count += 1
            }
            return .success(count)
        }
        switch outcome {
        case .success(let count): return count
        case .failure(.unknown): return nil
        case .failure(.error(let error)): throw error
        }
    }

    /// Why an update is taken back.
    private enum Hindrance: Error {
        /// What one of the items becomes is not known.
        case unknown
        case error(KeychainError)
    }

    /// Why an item could not be replaced; `nil` when it was.
    private func replace(
        _ item: KeychainItem,
        _ change: Change,
        _ db: Database,
        _ keys: StateKeys
    ) throws -> KeychainError? {
        let record = change.record
        if record.accessible == "akpu", try !hasPasscode(db) { return KeychainError(errSecNotAvailable) }
        var changed = item
        changed.record = record
        switch change.contents {
        case .plain(let value):
            let seal = ValueSeal(keys: keys)
            changed.contents = .sealed(try seal.seal(value, for: item.id, of: item.profile, record.encoded))
        case .sealed(let sealed): changed.contents = sealed
        }
        do {
            try changed.replace(db, keys)
            return nil
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return KeychainError(errSecDuplicateItem)
        }
    }

    /// Deletes the items that are meant.
    ///
    /// - Returns: How many there were.
    package func delete(_ match: ItemMatch) throws(KeychainError) -> Int {
        guard let database = try existing() else { return 0 }
        let keys = database.keys
        return try transaction(database) { db -> Result<Int, Never> in
            let items = try match.items(db, of: parts.profile, keys, withValues: false)
            for item in items { try KeychainItem.delete(item.id, db) }
            return .success(items.count)
        }.get()
    }

    /// Deletes rows by their numbers, where they are this profile's.
    package func delete(_ ids: [Int64]) throws(KeychainError) {
        guard !ids.isEmpty, let database = try existing() else { return }
        _ = try transaction(database) { db -> Result<Void, Never> in
            for id in ids { try KeychainItem.delete(id, db) }
            return .success(())
        }
    }

    // MARK: - The database

    private func existing() throws(KeychainError) -> StateDatabase? {
        do { return try parts.databaseBlocking(creating: false) } catch { throw KeychainError(error) }
    }

    private func database(creating: Bool) throws(KeychainError) -> StateDatabase {
        let database: StateDatabase?
        do { database = try parts.databaseBlocking(creating: true) } catch { throw KeychainError(error) }
        guard let database else { throw KeychainError(errSecNotAvailable) }
        return database
    }

    private func transaction<Value, Failure: Error>(
        _ database: StateDatabase,
        _ body: (Database) throws -> Result<Value, Failure>
    ) throws(KeychainError) -> Result<Value, Failure> {
        do { return try database.transactionBlocking(.full, body) } catch { throw KeychainError(error) }
    }
}
