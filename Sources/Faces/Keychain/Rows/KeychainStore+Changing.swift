// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import StateStore

/// Changing items.
extension KeychainStore {
    /// The new record and value of an item.
    package struct Change: Sendable {
        let record: ItemRecord
        let contents: NewContents

        /// Makes a change.
        package init(_ record: ItemRecord, _ contents: NewContents) {
            self.record = record
            self.contents = contents
        }
    }

    /// Replaces the records and values of items.
    ///
    /// - Parameters:
    ///   - match: The items to change.
    ///   - change: Returns the new record and value of an item; `nil` if they are unknown because another process or
    ///     thread changed the item first. It receives items with their values.
    ///   - isDead: Whether the chip reports that an existing item with the new identifying attributes can never be
    ///     opened again; if so, that item is deleted.
    /// - Returns: The number of changed items; `nil` if `change` returned `nil` for one of them, in which case nothing
    ///   was changed.
    /// - Throws: `errSecDuplicateItem` if two items would have the same identifying attributes, in which case nothing
    ///   was changed; otherwise the same errors as ``add(_:_:unless:)``.
    package func update(
        _ match: ItemMatch,
        _ change: (KeychainItem) throws(KeychainError) -> Change?,
        unless isDead: (KeychainItem) throws(KeychainError) -> Bool = { _ in false }
    ) throws(KeychainError) -> Int? {
        guard let database = try existing() else { return 0 }
        for _ in 0..<KeychainStore.tries {
            let outcome = try transaction(database) { db in try update(match, change, db, database.keys) }
            switch outcome {
            case .success(let count): return count
            case .failure(.unknown): return nil
            case .failure(.conflict(let conflict)): try makeRoom(conflict, unless: isDead)
            case .failure(.error(let error)): throw error
            }
        }
        throw KeychainError(errSecDuplicateItem)
    }

    /// The maximum number of attempts of one update, each of which removes one conflicting row.
    private static let tries = 100

    /// A reason for which an update is rolled back.
    private enum Hindrance: Error {
        /// The new value of one of the items is unknown.
        case unknown
        case conflict(Conflict)
        case error(KeychainError)
    }

    private func update(
        _ match: ItemMatch,
        _ change: (KeychainItem) throws(KeychainError) -> Change?,
        _ db: Database,
        _ keys: StateKeys
    ) throws -> Result<Int, Hindrance> {
        let items = try match.items(db, of: parts.profile, keys, withValues: true)
        for item in items {
            let new: Change?
            do throws(KeychainError) {
                new = try change(item)
            } catch {
                return .failure(.error(error))
            }
            guard let new else { return .failure(.unknown) }
            if let conflict = try conflict(of: new.record, at: item.id, db, keys) {
                return .failure(.conflict(conflict))
            }
            try replace(item, new, db, keys)
        }
        return .success(items.count)
    }

    private func replace(_ item: KeychainItem, _ change: Change, _ db: Database, _ keys: StateKeys) throws {
        var changed = item
        changed.record = change.record
        switch change.contents {
        case .plain(let value):
            let seal = ValueSeal(keys: keys)
            changed.contents = .sealed(
                try seal.seal(value, for: item.id, of: item.profile, changed.encodedRecord)
            )
        case .sealed(let sealed): changed.contents = sealed
        }
        try changed.replace(db, keys)
    }
}
