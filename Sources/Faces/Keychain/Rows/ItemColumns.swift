// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The columns of ``KeychainItem/selected`` and `value`, as they lie in a row.
///
/// GRDB's `Row` makes a table of the columns' names for each query, which takes as long as the query. This is read in
/// their order, without names.
struct ItemColumns: StatementColumnConvertible {
    let id: DatabaseValue
    let record: DatabaseValue
    let sealing: DatabaseValue
    let mac: DatabaseValue
    let value: DatabaseValue

    /// Reads the row that the statement is at: `index` is where `id` is, and the others follow.
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

extension ItemColumns: DatabaseValueConvertible {
    /// The row's number, which stands for it.
    var databaseValue: DatabaseValue { id }

    /// One value is no row.
    static func fromDatabaseValue(_ value: DatabaseValue) -> ItemColumns? { nil }
}
