// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSQLite

/// An SQLite error.
///
/// It contains neither the statement nor its arguments, which may be personal data. Source: sqlite3_errcode(), "Result
/// and Error Codes", sqlite.org/rescode.html.
package struct DatabaseError: Error, Hashable, CustomStringConvertible {
    /// The extended result code, such as `SQLITE_IOERR_WRITE`.
    package let extendedCode: Int32
    /// SQLite's own description.
    package let message: String

    /// Creates an error with a result code, primary or extended.
    package init(_ code: Int32, _ message: String = "") {
        extendedCode = code
        self.message = message.isEmpty ? String(cString: sqlite3_errstr(code)) : message
    }

    /// Creates the error for a row in a form that the program does not write.
    package static func corrupt(_ message: String) -> DatabaseError { DatabaseError(SQLITE_CORRUPT, message) }

    /// Creates the error for the call that has just failed on a connection.
    init(_ code: Int32, of connection: OpaquePointer?) {
        self.init(code, connection.map { String(cString: sqlite3_errmsg($0)) } ?? "")
    }

    /// The primary result code: the low eight bits.
    package var code: Int32 { extendedCode & 0xFF }

    /// The kinds of errors that programs handle differently.
    package enum Kind: Sendable {
        /// The disk is full.
        case full
        /// The file is damaged, or is not a database.
        case damaged
        /// Another connection kept the file locked for longer than the time limit.
        case busy
        /// The file cannot be opened.
        case cannotOpen
        /// The file cannot be written to.
        case notWritable
        /// The system could not read or write the file.
        case io
        /// Any other reason, such as a mistake in a statement.
        case other
    }

    /// The kind of the error.
    package var kind: Kind {
        switch code {
        case SQLITE_FULL: .full
        case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_CANTOPEN: .cannotOpen
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .notWritable
        case SQLITE_IOERR: .io
        default: .other
        }
    }

    package var description: String { "SQLite \(extendedCode): \(message)" }
}
