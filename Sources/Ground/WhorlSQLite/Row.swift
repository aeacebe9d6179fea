// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSQLite

/// The current row of a statement, valid until the function that receives it returns.
package struct Row: ~Copyable {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) { self.statement = statement }

    /// Returns the value of a column that is never NULL.
    ///
    /// - Throws: `SQLITE_CORRUPT` for NULL and for a value of another type, as SQLite does for other damage.
    package func column<Value: DatabaseValue>(_ index: Int) throws(DatabaseError) -> Value {
        guard let value: Value = self[index] else {
            throw .corrupt("column \(index) holds a value of another type")
        }
        return value
    }

    /// Returns the value of a column that may be NULL.
    ///
    /// - Throws: `SQLITE_CORRUPT` for a value of another type.
    package func optionalColumn<Value: DatabaseValue>(_ index: Int) throws(DatabaseError) -> Value? {
        guard sqlite3_column_type(statement, Int32(index)) != SQLITE_NULL else { return nil }
        return try column(index)
    }

    /// The value of a column; `nil` for NULL and for a value of another type.
    package subscript<Value: DatabaseValue>(_ index: Int) -> Value? {
        Value.read(statement, at: Int32(index))
    }

    /// The value of the column with the given name; `nil` for NULL, for another type, and if there is no such column.
    package subscript<Value: DatabaseValue>(_ name: String) -> Value? {
        for index in 0..<sqlite3_column_count(statement) where isNamed(name, index) {
            return Value.read(statement, at: index)
        }
        return nil
    }

    private func isNamed(_ name: String, _ index: Int32) -> Bool {
        sqlite3_column_name(statement, index).map { String(cString: $0) == name } ?? false
    }
}
