// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
import Glibc
import WhorlService

/// The first bytes of the database file, checked before SQLite reads it.
///
/// SQLite takes an empty file for a new database, and writes to every other file that it can open. So a file that is
/// not a complete database of Whorl is refused here, and stays as it is, byte for byte. Source: "Database File Format",
/// sqlite.org/fileformat2.html, section 1.3.
struct DatabaseHeader {
    private static let size = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    private let bytes: [UInt8]
    private let fileSize: Int

    /// Reads the header; the file must exist.
    ///
    /// SQLite opens the file, and does nothing else with it. Closing the file directly would release the locks of every
    /// other connection that this process has to it: another program could then take itself for the last user, and
    /// delete the log ("How To Corrupt An SQLite Database File", section 2.2).
    ///
    /// - Throws: `damaged` for a file that is not an SQLite database, including an empty file.
    init(path: String) throws(StateError) {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, nil) == SQLITE_OK,
            sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let methods = file.pointee.pMethods?.pointee
        else { throw StateError(errno: sqlite3_system_errno(connection), path: path) }
        var size: sqlite3_int64 = 0
        var header = [UInt8](repeating: 0, count: DatabaseHeader.size)
        guard methods.xFileSize?(file, &size) == SQLITE_OK,
            size < header.count || methods.xRead?(file, &header, CInt(header.count), 0) == SQLITE_OK
        else { throw StateError(errno: sqlite3_system_errno(connection), path: path) }
        guard header.starts(with: DatabaseHeader.magic) else {
            throw StateError(.damaged, path: path, cause: "no SQLite header in \(size) bytes")
        }
        self.bytes = header
        self.fileSize = Int(size)
    }

    /// Refuses another program's database, a newer version's, and a truncated one.
    ///
    /// If the write-ahead log is not empty (`isLogEmpty` is `false`), it may complete the file, and only SQLite can
    /// tell whether something is missing.
    func check(path: String, isLogEmpty: Bool) throws(StateError) {
        try DatabaseHeader.check(applicationID: number(at: 68), version: number(at: 60), path: path)
        let pageSize = number(at: 16) >> 16 == 1 ? 65_536 : Int(number(at: 16) >> 16)
        guard pageSize >= 512, pageSize.nonzeroBitCount == 1 else {
            throw StateError(.damaged, path: path, cause: "page size \(pageSize)")
        }
        guard isLogEmpty else { return }
        let pages = Int(number(at: 28))
        guard fileSize % pageSize == 0, fileSize / pageSize >= pages else {
            throw StateError(.damaged, path: path, cause: "\(fileSize) bytes, \(pages) pages of \(pageSize)")
        }
    }

    /// Refuses another program's database and a newer version's.
    static func check(applicationID: UInt32, version: UInt32, path: String) throws(StateError) {
        guard applicationID == Schema.applicationID else {
            throw StateError(.foreign, path: path, cause: "application_id \(applicationID)")
        }
        guard version <= Schema.version else {
            throw StateError(
                .newerVersion,
                path: path,
                cause: "schema \(version), this program knows \(Schema.version)"
            )
        }
        guard version >= Schema.oldestVersion else {
            throw StateError(.damaged, path: path, cause: "schema \(version)")
        }
    }

    private func number(at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
