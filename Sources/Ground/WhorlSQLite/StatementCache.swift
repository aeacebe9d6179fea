// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSQLite

/// The compiled statements of one connection that are not currently in use, by their text.
struct StatementCache {
    /// The maximum number of statements to keep, more than our programs use regularly.
    private static let limit = 64

    private struct Kept {
        let statement: OpaquePointer
        let lastUse: Int
    }

    private var kept: [String: Kept] = [:]
    private var uses = 0

    /// Removes and returns the statement with this text.
    mutating func take(_ sql: String) -> OpaquePointer? { kept.removeValue(forKey: sql)?.statement }

    /// Keeps a statement for the next use, without its arguments, because a large argument would stay in memory.
    mutating func keep(_ statement: OpaquePointer, _ sql: String) {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
        uses += 1
        let replaced = kept.updateValue(Kept(statement: statement, lastUse: uses), forKey: sql)
        sqlite3_finalize(replaced?.statement)
        guard kept.count > Self.limit, let oldest = kept.min(by: { $0.value.lastUse < $1.value.lastUse })
        else { return }
        sqlite3_finalize(kept.removeValue(forKey: oldest.key)?.statement)
    }

    /// Deletes all statements, which is required before closing the connection.
    mutating func empty() {
        for kept in kept.values { sqlite3_finalize(kept.statement) }
        kept = [:]
    }
}
