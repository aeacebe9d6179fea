// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import StateStore

/// Changing items.
extension KeychainStore {
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

    /// Puts other records and values in the place of those that are there.
    ///
    /// - Parameters:
    ///   - match: Which items.
    ///   - change: What an item becomes; `nil` where that is not known, since somebody else was faster. It gets items with
    ///     their values.
    ///   - isDead: Whether the chip has said that an item whose name one would get can never be opened again; then it makes
    ///     room.
    /// - Returns: How many were changed; `nil` where `change` gave `nil` for one of them, and then nothing was changed.
    /// - Throws: `errSecDuplicateItem` where two would be the same, and then nothing was changed; as ``add(_:_:unless:)``.
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

    /// How many rows may be in the way of one update.
    private static let tries = 100

    /// Why an update is taken back.
    private enum Hindrance: Error {
        /// What one of the items becomes is not known.
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
