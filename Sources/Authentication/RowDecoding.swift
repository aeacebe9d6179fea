// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Row {
    /// A column that is never NULL.
    ///
    /// GRDB's own subscript ends the process where a damaged file has another type in the column than its
    /// table declares; this throws, as other damage does.
    func column<Value: DatabaseValueConvertible>(_ index: Int) throws -> Value {
        guard let value: Value = try optionalColumn(index) else { throw Row.damage(index) }
        return value
    }

    /// A column that may be NULL.
    func optionalColumn<Value: DatabaseValueConvertible>(_ index: Int) throws -> Value? {
        let stored: DatabaseValue = self[index]
        guard !stored.isNull else { return nil }
        guard let value = Value.fromDatabaseValue(stored) else { throw Row.damage(index) }
        return value
    }

    private static func damage(_ index: Int) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "column \(index) holds a value of another type")
    }
}
