// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlService
import WhorlSQLite

/// Functions that create the database file and open it without damaging its contents.
enum DatabaseOpening {
    /// The time that a process waits for another process to finish writing, in milliseconds.
    private static let busyTimeout: Int32 = 10_000

    /// The size above which only the tables that affect fingers are checked when the database is opened.
    ///
    /// The audit log grows without limit, and a full check would read all of it.
    private static let wholeCheckLimit = 1 << 20

    /// Returns whether the database exists, after checking that it and its side files are private.
    static func exists(_ directory: StateDirectory) throws(ServiceError) -> Bool {
        for suffix in ["-wal", "-shm"] { _ = try PrivateFiles.checkFile(directory.databasePath + suffix) }
        return try PrivateFiles.checkFile(directory.databasePath)
    }

    /// Creates an empty database.
    ///
    /// The file is given its name only when it is complete. Other processes therefore never see an incomplete file, and
    /// a crash does not leave an empty file behind that would look damaged.
    static func create(_ directory: StateDirectory) throws(ServiceError) {
        let temporary = PrivateFiles.temporaryName(beside: directory.databasePath)
        close(try PrivateFiles.createExclusively(temporary))
        do {
            let queue = try DatabaseQueue(path: temporary, busyTimeout: busyTimeout)
            try queue.access { db in
                try db.transaction(Schema.create)
                // The journal mode is stored in the file, so that every later connection uses it.
                try db.execute(sql: "PRAGMA journal_mode = WAL")
            }
            try queue.close()
        } catch {
            for suffix in ["", "-journal", "-wal", "-shm"] { unlink(temporary + suffix) }
            throw ServiceError(error, path: directory.databasePath)
        }
        _ = try PrivateFiles.publish(temporary, as: directory.databasePath, in: directory.path)
    }

    /// Opens an existing database after checking that it is valid, and updates it if it has an older version.
    static func open(_ directory: StateDirectory) throws(ServiceError) -> DatabaseQueue {
        let path = directory.databasePath
        let isLogEmpty = isEmpty(path + "-wal")
        try DatabaseHeader(path: path).check(path: path, isLogEmpty: isLogEmpty)
        if !isLogEmpty {
            // Closing a connection that can write moves the log into the database. If a process was killed, a
            // connection that cannot write checks first, so that a damaged pair is left as it is.
            try verify(connect(path, isReadOnly: true), path)
        }
        let queue = try connect(path)
        if isLogEmpty { try verify(queue, path) }
        return try Result(failingAt: path) {
            let version: Int? = try queue.access { try $0.value(sql: "PRAGMA user_version") }
            if version != Int(Schema.version) { try Schema.update(queue) }
            return queue
        }.get()
    }

    private static func connect(
        _ path: String,
        isReadOnly: Bool = false
    ) throws(ServiceError) -> DatabaseQueue {
        try Result(failingAt: path) {
            try DatabaseQueue(path: path, isReadOnly: isReadOnly, busyTimeout: busyTimeout)
        }.get()
    }

    private static func verify(_ queue: DatabaseQueue, _ path: String) throws(ServiceError) {
        let failure: ServiceError?
        do {
            failure = try queue.access { db in try db.reading { db in try fault(of: db, path) } }
        } catch {
            failure = ServiceError(error, path: path)
        }
        guard let failure else { return }
        try? queue.close()
        throw failure
    }

    /// Returns the error in the database, or `nil` if the database is valid.
    private static func fault(of db: Database, _ path: String) throws -> ServiceError? {
        // SQLite returns both as signed numbers, and the log may contain other values than the file's first bytes.
        func number(_ name: String) throws -> UInt32 {
            let signed: Int? = try db.value(sql: "PRAGMA \(name)")
            return UInt32(truncatingIfNeeded: signed ?? 0)
        }
        let (applicationID, version) = (try number("application_id"), try number("user_version"))
        do {
            try DatabaseHeader.check(applicationID: applicationID, version: version, path: path)
        } catch {
            return error
        }
        let tables = ["identity", "profiles", "prints", "enrollment_history", "attempts"]
        let pages = try db.value(sql: "PRAGMA page_count") ?? 0
        let isSmall = try pages * (db.value(sql: "PRAGMA page_size") ?? 0) <= wholeCheckLimit
        let checks = isSmall ? ["PRAGMA quick_check(1)"] : tables.map { "PRAGMA quick_check(\($0))" }
        for check in checks {
            let answer = try db.value(sql: check) ?? "no answer"
            if answer != "ok" { return ServiceError(.storeDamaged, path, cause: answer) }
        }
        for table in tables + ["reuse", "opt_outs", "audit"] where try !db.tableExists(table) {
            return ServiceError(.storeDamaged, path, cause: "no table \(table)")
        }
        return nil
    }

    private static func isEmpty(_ path: String) -> Bool {
        var found = stat()
        return stat(path, &found) != 0 || found.st_size == 0
    }
}

/// The first bytes of the database file, checked before SQLite reads it.
///
/// SQLite treats an empty file as a new database, and writes to any other file that it can open. Therefore a file that
/// is not a complete Whorl database is rejected here and left unchanged byte for byte. Source: "Database File Format",
/// sqlite.org/fileformat2.html, section 1.3.
struct DatabaseHeader {
    private static let size = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    private let bytes: [UInt8]
    private let fileSize: Int

    /// Reads the header of a file, which must exist.
    ///
    /// - Throws: `damaged` if the file is empty or is not an SQLite database.
    init(path: String) throws(ServiceError) {
        let file: DatabaseFile
        do throws(DatabaseFile.Fault) {
            file = try DatabaseFile(path: path, first: DatabaseHeader.size)
        } catch {
            throw ServiceError(errno: error.errno, path: path)
        }
        guard file.bytes.starts(with: DatabaseHeader.magic) else {
            throw ServiceError(.storeDamaged, path, cause: "no SQLite header in \(file.size) bytes")
        }
        bytes = file.bytes
        fileSize = file.size
    }

    /// Rejects the database of another program or of a newer version, and a truncated database.
    ///
    /// If the write-ahead log is not empty (`isLogEmpty` is `false`), it may complete the file, and only SQLite can
    /// determine whether anything is missing.
    func check(path: String, isLogEmpty: Bool) throws(ServiceError) {
        try DatabaseHeader.check(applicationID: number(at: 68), version: number(at: 60), path: path)
        let pageSize = number(at: 16) >> 16 == 1 ? 65_536 : Int(number(at: 16) >> 16)
        guard pageSize >= 512, pageSize.nonzeroBitCount == 1 else {
            throw ServiceError(.storeDamaged, path, cause: "page size \(pageSize)")
        }
        guard isLogEmpty else { return }
        let pages = Int(number(at: 28))
        guard fileSize % pageSize == 0, fileSize / pageSize >= pages else {
            throw ServiceError(.storeDamaged, path, cause: "\(fileSize) bytes, \(pages) pages of \(pageSize)")
        }
    }

    /// Rejects the database of another program or of a newer version.
    static func check(applicationID: UInt32, version: UInt32, path: String) throws(ServiceError) {
        guard applicationID == Schema.applicationID else {
            throw ServiceError(.storeForeign, path, cause: "application_id \(applicationID)")
        }
        guard version <= Schema.version else {
            throw ServiceError(
                .storeNewer,
                path,
                cause: "schema \(version), this program knows \(Schema.version)"
            )
        }
        guard version >= 1 else {
            throw ServiceError(.storeDamaged, path, cause: "schema \(version)")
        }
    }

    private func number(at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
