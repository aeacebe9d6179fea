// SPDX-License-Identifier: Apache-2.0

package import GRDB

/// The columns of a row by name; `nil` stands for NULL and for a value of another type.
///
/// GRDB's own subscript ends the process if a damaged file has another type in a column than its table declares.
package struct Columns {
    private let row: Row

    package init(_ row: Row) { self.row = row }

    /// The value of the column with this name.
    package subscript<Value: DatabaseValueConvertible>(_ name: String) -> Value? {
        Value(exactly: row[name] as DatabaseValue)
    }
}

extension Row {
    /// Returns the value of a column that is never NULL.
    ///
    /// - Throws: `SQLITE_CORRUPT` for NULL and for a value of another type, as SQLite does for other damage.
    package func column<Value: DatabaseValueConvertible>(_ index: Int) throws -> Value {
        guard let value: Value = try optionalColumn(index) else { throw Row.damage(index) }
        return value
    }

    /// Returns the value of a column that may be NULL.
    ///
    /// - Throws: `SQLITE_CORRUPT` for a value of another type.
    package func optionalColumn<Value: DatabaseValueConvertible>(_ index: Int) throws -> Value? {
        let stored: DatabaseValue = self[index]
        guard !stored.isNull else { return nil }
        guard let value = Value(exactly: stored) else { throw Row.damage(index) }
        return value
    }

    private static func damage(_ index: Int) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "column \(index) holds a value of another type")
    }
}

extension DatabaseValueConvertible {
    /// Converts a stored value; `nil` if the conversion would change it, as from a text to bytes.
    fileprivate init?(exactly stored: DatabaseValue) {
        guard let value = Self.fromDatabaseValue(stored), value.databaseValue == stored else { return nil }
        self = value
    }
}
