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
        guard groups.containsBytes(of: named) else { throw KeychainError(errSecMissingEntitlement) }
        return named
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
    package func soundValue(of item: KeychainItem) throws(KeychainError) -> Data? {
        guard let database = try existing() else { return nil }
        return item.value(database.keys)
    }

    // MARK: - Deleting

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

    func existing() throws(KeychainError) -> StateDatabase? {
        do { return try parts.databaseBlocking(creating: false) } catch { throw KeychainError(error) }
    }

    func database(creating: Bool) throws(KeychainError) -> StateDatabase {
        let database: StateDatabase?
        do { database = try parts.databaseBlocking(creating: true) } catch { throw KeychainError(error) }
        guard let database else { throw KeychainError(errSecNotAvailable) }
        return database
    }

    func transaction<Value, Failure: Error>(
        _ database: StateDatabase,
        _ body: (Database) throws -> Result<Value, Failure>
    ) throws(KeychainError) -> Result<Value, Failure> {
        do { return try database.transactionBlocking(.full, body) } catch { throw KeychainError(error) }
    }
}
