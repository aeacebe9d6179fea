// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The columns of ``StoredRow/selected`` and `value`, as stored in a row.
///
/// GRDB's `Row` builds a table of the columns' names for each query, which takes as long as the query itself.
/// `RowColumns` reads the columns by position, without names.
struct RowColumns: StatementColumnConvertible {
    let id: DatabaseValue
    let record: DatabaseValue
    let sealing: DatabaseValue
    let mac: DatabaseValue
    let value: DatabaseValue

    /// Reads the statement's current row: `index` is the position of `id`, and the other columns follow.
    init(sqliteStatement: SQLiteStatement, index: CInt) {
        func column(_ offset: CInt) -> DatabaseValue {
            DatabaseValue(sqliteStatement: sqliteStatement, index: index + offset)
        }
        id = column(0)
        record = column(1)
        sealing = column(2)
        mac = column(3)
        value = column(4)
    }
}

extension RowColumns: DatabaseValueConvertible {
    /// The row's number, which represents the row.
    var databaseValue: DatabaseValue { id }

    /// Returns `nil`, since a single value is not a row.
    static func fromDatabaseValue(_ value: DatabaseValue) -> RowColumns? { nil }
}
