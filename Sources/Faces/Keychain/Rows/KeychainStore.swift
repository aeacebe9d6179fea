// SPDX-License-Identifier: Apache-2.0

package import AuthenticationContext
internal import GRDB
internal import StateStore
import WhorlService

/// The rows of the keychain that belong to one profile, in the access groups of one program.
///
/// The store never authenticates the owner: its callers enforce access controls. Its calls block the calling thread
/// until the database has finished, may be made from any thread, and are a transaction each.
package struct KeychainStore: Sendable {
    let parts: ContextParts

    /// Makes a store of the rows that a program may use.
    package init(_ parts: ContextParts) { self.parts = parts }

    /// The program's access groups; items that name no group are stored in the first one.
    package var groups: [String] { [parts.application.rawValue] + parts.accessGroups }

    /// Returns the group that a dictionary names, or the program's own group.
    ///
    /// - Throws: `errSecMissingEntitlement` for a group that the program may not use.
    package func group(_ named: String?) throws(KeychainError) -> String {
        guard let named, !named.isEmpty else { return groups[0] }
        guard groups.containsBytes(of: named) else { throw KeychainError(errSecMissingEntitlement) }
        return named
    }

    // MARK: - Finding

    /// Returns the selected items.
    ///
    /// - Parameters:
    ///   - match: The filter, whose groups must be among ``groups``.
    ///   - withValues: Whether to read the values, which ``value(of:)`` needs; without them, less is read.
    ///   - limit: The maximum number of items.
    /// - Returns: The items; without a limit, the oldest first.
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

    /// Returns the value of an item that the store encrypts and that was read with its value.
    ///
    /// - Throws: `errSecInvalidRecord` for a value that does not decrypt, and for one that the chip seals.
    package func value(of item: KeychainItem) throws(KeychainError) -> Data {
        guard let value = try soundValue(of: item) else { throw KeychainError(errSecInvalidRecord) }
        return value
    }

    /// Returns the value as ``value(of:)`` does, but `nil` if it was tampered with and does not decrypt: the row's
    /// authentication code covers only its end.
    package func soundValue(of item: KeychainItem) throws(KeychainError) -> Data? {
        guard let database = try existing() else { return nil }
        return item.value(database.keys)
    }

    // MARK: - Deleting

    /// Deletes the selected items.
    ///
    /// - Returns: The number of deleted items.
    package func delete(_ match: ItemMatch) throws(KeychainError) -> Int {
        guard let database = try existing() else { return 0 }
        let keys = database.keys
        return try transaction(database) { db -> Result<Int, Never> in
            let items = try match.items(db, of: parts.profile, keys, withValues: false)
            for item in items { try KeychainItem.delete(item.id, db) }
            return .success(items.count)
        }.get()
    }

    /// Deletes rows by their numbers, which must be those of this profile's rows.
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
