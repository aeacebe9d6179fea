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
}
