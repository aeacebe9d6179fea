// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import StateStore
package import WhorlService

/// Changing items.
extension KeychainRows {
    package func update(
        _ changes: [KeychainRowChange],
        replacing: [KeychainRowVersion]
    ) throws(StateError) -> KeychainOutcome {
        guard let database = try existing() else { return changes.isEmpty ? .stored([]) : .stale }
        let keys = database.keys
        return try outcome(database) { db throws in
            // All rows are compared before the first one is written: it would look changed afterwards.
            for change in changes where try row(change.version, db, keys) == nil { return .failure(.stale) }
            try remove(replacing, db, keys)
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
