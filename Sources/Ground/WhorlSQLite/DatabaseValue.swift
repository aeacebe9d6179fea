// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSQLite
package import FoundationEssentials

/// A type that can be stored in a column, and read back only if the column's value has the same type.
///
/// Values are not converted: text is not bytes, and an integer is a `Bool` only if it is 0 or 1. A column of a damaged
/// file therefore reads as "no such value", and never as a different one.
package protocol DatabaseValue {
    /// Sets a parameter of a statement to a copy of the value, and returns SQLite's result code.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32

    /// Returns the value of a column of the statement's current row; `nil` for NULL and for another type.
    static func read(_ statement: OpaquePointer, at index: Int32) -> Self?
}

extension Int64: DatabaseValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, self)
    }

    package static func read(_ statement: OpaquePointer, at index: Int32) -> Int64? {
        guard sqlite3_column_type(statement, index) == SQLITE_INTEGER else { return nil }
        return sqlite3_column_int64(statement, index)
    }
}

extension DatabaseValue where Self: FixedWidthInteger {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        // No stored integer is larger than SQLite's.
        Int64(clamping: self).bind(to: statement, at: index)
    }

    package static func read(_ statement: OpaquePointer, at index: Int32) -> Self? {
        Int64.read(statement, at: index).flatMap { Self(exactly: $0) }
    }
}

extension Int: DatabaseValue {}
extension UInt8: DatabaseValue {}

extension Bool: DatabaseValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        Int64(self ? 1 : 0).bind(to: statement, at: index)
    }

    package static func read(_ statement: OpaquePointer, at index: Int32) -> Bool? {
        switch Int64.read(statement, at: index) {
        case 0: false
        case 1: true
        default: nil
        }
    }
}

extension Double: DatabaseValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_double(statement, index, self)
    }

    package static func read(_ statement: OpaquePointer, at index: Int32) -> Double? {
        guard sqlite3_column_type(statement, index) == SQLITE_FLOAT else { return nil }
        return sqlite3_column_double(statement, index)
    }
}

extension String: DatabaseValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        var text = self
        return text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                // Empty text has an address too: it is not NULL.
                bytes.baseAddress.map { whorl_sqlite_bind_text(statement, index, $0, UInt64(bytes.count)) }
                    ?? whorl_sqlite_bind_text(statement, index, "", 0)
            }
        }
    }

    package static func read(_ statement: OpaquePointer, at index: Int32) -> String? {
        guard sqlite3_column_type(statement, index) == SQLITE_TEXT,
            let text = sqlite3_column_text(statement, index)
        else { return nil }
        let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, index)))
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Data: DatabaseValue {
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        withUnsafeBytes { bytes in
            bytes.baseAddress.map { whorl_sqlite_bind_blob(statement, index, $0, UInt64(bytes.count)) }
                ?? sqlite3_bind_zeroblob(statement, index, 0)
        }
    }

    package static func read(_ statement: OpaquePointer, at index: Int32) -> Data? {
        guard sqlite3_column_type(statement, index) == SQLITE_BLOB else { return nil }
        guard let bytes = sqlite3_column_blob(statement, index) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, index)))
    }
}
