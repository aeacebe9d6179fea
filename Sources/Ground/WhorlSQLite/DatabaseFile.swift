// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSQLite

/// The beginning of a database file, read through SQLite but not interpreted as a database.
///
/// SQLite only opens the file, and does nothing else with it. Opening and closing the file directly would release the
/// locks of every other connection that this process has to it. Another program could then assume that it is the last
/// user, and delete the log ("How To Corrupt An SQLite Database File", section 2.2).
package struct DatabaseFile {
    /// The first bytes; if the file is shorter, the missing bytes are zero.
    package let bytes: [UInt8]
    /// The size of the file in bytes.
    package let size: Int

    /// The reason why a file cannot be read: an errno(3) number.
    package struct Fault: Error {
        package let errno: Int32
    }

    /// Reads the first `count` bytes of a file, which must exist.
    package init(path: String, first count: Int) throws(Fault) {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, nil) == SQLITE_OK,
            sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let methods = file.pointee.pMethods?.pointee
        else { throw Fault(errno: sqlite3_system_errno(connection)) }
        var size: sqlite3_int64 = 0
        var bytes = [UInt8](repeating: 0, count: count)
        guard methods.xFileSize?(file, &size) == SQLITE_OK,
            size < count || methods.xRead?(file, &bytes, CInt(count), 0) == SQLITE_OK
        else { throw Fault(errno: sqlite3_system_errno(connection)) }
        self.bytes = bytes
        self.size = Int(size)
    }
}
