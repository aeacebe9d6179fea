// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The first bytes of the database file, looked at before SQLite is.
///
/// SQLite takes an empty file for a new database and writes to whatever else it can open. So what is not a whole
/// database of ours is refused here, and stays as it is byte for byte.
/// Source: "Database File Format", sqlite.org/fileformat2.html, section 1.3.
struct DatabaseHeader {
    private static let size = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    private let bytes: [UInt8]
    private let fileSize: Int

    /// Reads the header; the file must be there.
    ///
    /// - Throws: `damaged` for what is not an SQLite database, also for an empty file.
    init(path: String) throws(StateError) {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw StateError(errno: errno, path: path) }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0 else { throw StateError(errno: errno, path: path) }
        var header = [UInt8](repeating: 0, count: DatabaseHeader.size)
        let count = read(file, &header, header.count)
        guard count >= 0 else { throw StateError(errno: errno, path: path) }
        guard count == header.count, header.starts(with: DatabaseHeader.magic) else {
            throw StateError(.damaged, path: path, cause: "no SQLite header in \(found.st_size) bytes")
        }
        self.bytes = header
        self.fileSize = Int(found.st_size)
    }

    /// Refuses another program's database, a newer version's, and one that was cut off.
    ///
    /// When the write-ahead log holds something (`isLogEmpty` is `false`), it may complete the file, and only SQLite
    /// can tell whether something is missing.
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
