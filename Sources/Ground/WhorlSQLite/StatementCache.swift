// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSQLite

/// The statements of one connection that were compiled and are not being run, by their text.
struct StatementCache {
    /// The most statements that are kept: more than a program of ours uses all the time.
    private static let limit = 64

    private struct Kept {
        let statement: OpaquePointer
        let lastUse: Int
    }

    private var kept: [String: Kept] = [:]
    private var uses = 0

    /// Removes and returns the statement with this text.
    mutating func take(_ sql: String) -> OpaquePointer? { kept.removeValue(forKey: sql)?.statement }

    /// Keeps a statement for the next use, without its arguments: a large one would stay in memory.
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

    /// Deletes all statements, without which no connection can be closed.
    mutating func empty() {
        for kept in kept.values { sqlite3_finalize(kept.statement) }
        kept = [:]
    }
}
