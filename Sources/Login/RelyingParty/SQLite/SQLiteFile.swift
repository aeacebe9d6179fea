// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import GRDB
internal import Glibc
internal import Synchronization

/// A database file, which is created or opened without changing files of other programs.
struct SQLiteFile {
    /// The application ID of our databases, "WhLi" in ASCII; other programs' databases have other IDs.
    static let applicationID: UInt32 = 0x5768_4c69
    /// The maximum time to wait for another process to finish writing, in seconds.
    private static let busyTimeout = 5.0

    let path: String

    /// Opens the database; if it is missing, creates it first if `ifMissing` allows that.
    func open(ifMissing: MissingDatabase) throws -> (DatabaseQueue, SQLiteFileIdentity) {
        var found = stat()
        if lstat(path, &found) != 0 {
            guard errno == ENOENT else { throw refusal(String(cString: strerror(errno))) }
            guard ifMissing == .create else { throw refusal("the database does not exist") }
            try create()
            guard lstat(path, &found) == 0 else { throw refusal(String(cString: strerror(errno))) }
        }
        try checkAccess(found)
        // SQLite reads these files as part of the database.
        var beside = stat()
        for suffix in ["-wal", "-shm"] where lstat(path + suffix, &beside) == 0 { try checkAccess(beside) }
        try checkHeader()
        let queue = try connect(path)
        try queue.writeWithoutTransaction { db in
            // Protects this change from being lost or cut in half by a power failure.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            try db.inTransaction(.immediate) {
                try checkVersion(try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0)
                return .commit
            }
        }
        // The transaction opened the log and its index.
        let identity = SQLiteFileIdentity(path: path)
        guard identity.isDatabase(found) else { throw refusal("replaced while it was being opened") }
        return (queue, identity)
    }

    private func checkVersion(_ version: Int) throws {
        guard version == SQLiteSchema.version else {
            throw refusal("schema \(version), this program knows \(SQLiteSchema.version)")
        }
    }

    /// Checks that the file belongs to this user and that other users cannot access it.
    private func checkAccess(_ found: stat) throws {
        guard found.st_mode & S_IFMT == S_IFREG else { throw refusal("not a regular file") }
        guard found.st_uid == geteuid() else { throw refusal("belongs to uid \(found.st_uid)") }
        guard found.st_mode & 0o077 == 0 else {
            let mode = String(found.st_mode & 0o777, radix: 8)
            throw refusal("accessible to other users (mode 0\(mode)); restrict it with chmod 600")
        }
    }

    /// Checks that the file is one of our databases.
    ///
    /// The first bytes are checked before SQLite opens the file, because SQLite treats an empty file as a new database
    /// and writes to any other file that it can open. Source: "Database File Format", sqlite.org/fileformat2.html, 1.3.
    private func checkHeader() throws {
        guard let file = FileHandle(forReadingAtPath: path), let header = try file.read(upToCount: 100),
            header.count == 100, header.starts(with: Data("SQLite format 3\0".utf8)),
            header[68..<72].reduce(0, { $0 << 8 | UInt32($1) }) == Self.applicationID
        else { throw refusal("not a login server's database") }
        try checkVersion(header[60..<64].reduce(0) { $0 << 8 | Int($1) })
    }

    /// Creates an empty database, which is given its final name only when it is complete, so that other processes never
    /// see a partial one.
    private func create() throws {
        let temporary = "\(path).new.\(getpid()).\(UInt32.random(in: .min ... .max))"
        defer { for suffix in ["", "-journal", "-wal", "-shm"] { unlink(temporary + suffix) } }
        let file = Glibc.open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw refusal(String(cString: strerror(errno))) }
        close(file)
        let queue = try connect(temporary)
        try queue.write { try SQLiteSchema.create($0) }
        // The journal mode is stored in the file, and applies to every later connection.
        try queue.writeWithoutTransaction { db in
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
        }
        try queue.close()
        // Another process may have been faster; its database is used then.
        guard link(temporary, path) == 0 || errno == EEXIST else {
            throw refusal(String(cString: strerror(errno)))
        }
        let folder = Glibc.open(
            (path as NSString).deletingLastPathComponent,
            O_RDONLY | O_DIRECTORY | O_CLOEXEC
        )
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private func connect(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(Self.busyTimeout)
        configuration.label = "whorl.login"
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private func refusal(_ why: String) -> RelyingPartyError {
        RelyingPartyError(.store, cause: "\(path): \(why)")
    }
}

extension RelyingPartyError {
    /// Creates an error from an SQLite error, omitting statements and their values.
    init(sqlite error: any Error, path: String) {
        switch error {
        case let known as RelyingPartyError: self = known
        case let error as DatabaseError:
            self.init(
                .store,
                cause: "\(path): SQLite \(error.extendedResultCode.rawValue): \(error.message ?? "")"
            )
        default: self.init(.store, cause: "\(path): \(type(of: error))")
        }
    }
}

/// The durability of commits on one connection.
final class SQLiteDurability: Sendable {
    enum Level: Sendable {
        /// Commits are on disk.
        case full
        /// Commits survive the end of the process, but may be lost in a power failure.
        case process
    }

    private let current = Mutex<Level?>(nil)

    /// Changes the level; must be called between transactions, on the connection's thread.
    func change(to level: Level, _ db: Database) throws {
        guard current.withLock({ $0 }) != level else { return }
        switch level {
        case .full: try db.execute(sql: "PRAGMA synchronous = FULL")
        case .process: try db.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        current.withLock { $0 = level }
    }
}
