// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import WhorlSQLite
import Synchronization
package import WhorlService
import WhorlSupport

/// The database of one state directory and the keys that protect its contents.
///
/// Several processes may have it open at the same time. Every read and write completes even if its task is cancelled,
/// because each event at the reader must be written to the disk.
package final class StateDatabase: Sendable {
    /// The directory that contains the database.
    package let directory: StateDirectory

    /// The only connection to the database.
    ///
    /// A pool would open a second connection at the first read, which would slow down a cold start, and the tasks of
    /// one process have nothing to read in parallel. In WAL mode, other processes' reads do not wait for our writes,
    /// and our reads do not wait for theirs.
    let queue: DatabaseQueue
    let setting = DurabilitySetting()
    /// The keys that protect the rows (see ``KeyPurpose``).
    package let keys: StateKeys

    /// Opens the database, creating the directory, the database and the key if no state exists.
    ///
    /// The directory is created with mode 0700 and the files with mode 0600, regardless of the umask. More permissive
    /// modes, a different owner, and links in place of files are rejected. A file that is not a valid database of this
    /// version is left unchanged.
    ///
    /// - Throws: Errors with any code of ``ServiceError``.
    package convenience init(directory: StateDirectory) throws(ServiceError) {
        try self.init(directory: directory, keySource: FileKeySource(directory: directory))
    }

    /// Opens or creates the database with the key from the given source.
    package convenience init(
        directory: StateDirectory,
        keySource: any StateKeySource
    ) throws(ServiceError) {
        try PrivateFiles.makeDirectory(directory.path)
        if try !StateDatabase.isThere(directory, keySource) {
            try DatabaseOpening.create(directory)
        }
        let queue = try DatabaseOpening.open(directory)
        let keys = try KeyBinding(queue: queue, source: keySource, directory: directory).keysOrNew()
        self.init(directory: directory, queue: queue, keys: keys)
    }

    private init(directory: StateDirectory, queue: DatabaseQueue, keys: StateKeys) {
        self.directory = directory
        self.queue = queue
        self.keys = keys
    }

    /// Opens the database if it exists, and never creates anything.
    ///
    /// - Returns: The database, or `nil` if no state exists.
    /// - Throws: The errors of ``init(directory:)``.
    package static func openExisting(_ directory: StateDirectory) throws(ServiceError) -> StateDatabase? {
        try openExisting(directory, keySource: FileKeySource(directory: directory))
    }

    /// Opens an existing database with the key from the given source.
    package static func openExisting(
        _ directory: StateDirectory,
        keySource: any StateKeySource
    ) throws(ServiceError) -> StateDatabase? {
        guard try PrivateFiles.checkDirectory(directory.path), try isThere(directory, keySource)
        else { return nil }
        let queue = try DatabaseOpening.open(directory)
        guard let keys = try KeyBinding(queue: queue, source: keySource, directory: directory).keys()
        else { return nil }
        return StateDatabase(directory: directory, queue: queue, keys: keys)
    }

    /// Returns whether the database exists.
    ///
    /// The key is created after the database, so a key without a database means that the database was lost. The key is
    /// checked first, because another process may be creating both at that moment.
    private static func isThere(
        _ directory: StateDirectory,
        _ keySource: any StateKeySource
    ) throws(ServiceError) -> Bool {
        let hasKey = try keySource.exists()
        if try DatabaseOpening.exists(directory) { return true }
        guard hasKey else { return false }
        throw ServiceError(
            .storeDamaged,
            directory.databasePath,
            message: "The database \(directory.databasePath) is missing, but its key exists.",
            recovery: "Restore the whole directory from a backup; or, to start over without the enrolled "
                + "fingers, move the key away: `mv \(shellQuoted(keySource.path)) "
                + "\(shellQuoted(keySource.path + ".old"))`."
        )
    }

    /// Runs `body` on a consistent state of the database, which `body` must not change.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ServiceError) -> Value {
        let path = directory.databasePath
        return try await withCheckedContinuation {
            (done: CheckedContinuation<Result<Value, ServiceError>, Never>) in
            queue.accessLater { db in
                done.resume(returning: Result(failingAt: path) { try db.reading(body) })
            }
        }.get()
    }

    /// Runs `body` in an IMMEDIATE transaction, so that no other connection writes at the same time.
    ///
    /// If `body` throws an error, the transaction is rolled back.
    package func write<Value: Sendable>(
        _ durability: Durability = .full,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ServiceError) -> Value {
        let result: Result<Value, Never> = try await transaction(durability) { .success(try body($0)) }
        return result.get()
    }

    /// Returns numbers that are different after any change to the database by this or another process.
    package func changeMark() async throws(ServiceError) -> [Int] {
        try await read { db in [try db.value(sql: "PRAGMA data_version") ?? 0, db.totalChangesCount] }
    }

    /// Runs `body` like ``write(_:_:)``, except that `body` can fail without throwing an error.
    ///
    /// If `body` returns a `failure`, the transaction is rolled back and the failure is returned.
    package func transaction<Value: Sendable, Failure: Error>(
        _ durability: Durability = .full,
        _ body: @escaping @Sendable (Database) throws -> Result<Value, Failure>
    ) async throws(ServiceError) -> Result<Value, Failure> {
        let path = directory.databasePath
        typealias Answer = Result<Result<Value, Failure>, ServiceError>
        return try await withCheckedContinuation { (done: CheckedContinuation<Answer, Never>) in
            queue.accessLater { [setting] db in
                done.resume(
                    returning: Result(failingAt: path) {
                        try setting.change(to: durability, db)
                        return try db.transaction(body)
                    }
                )
                // Do this now instead of at the next relaxed write, because a user at the reader waits for that one.
                try? setting.change(to: .relaxed, db)
            }
        }.get()
    }
}

extension Result where Failure == ServiceError {
    /// Runs `body` and converts its error to a ``ServiceError``.
    init(failingAt path: String, _ body: () throws -> Success) {
        do {
            self = .success(try body())
        } catch {
            self = .failure(ServiceError(error, path: path))
        }
    }
}

/// Variants of these functions that do not switch threads, for a caller that waits on its own thread.
///
/// They block the caller while other work is in progress on this connection. They must not be called from within
/// `body`.
extension StateDatabase {
    /// Runs `body`, which must not change the database.
    ///
    /// Each statement sees a consistent state.
    package func readBlocking<Value>(_ body: (Database) throws -> Value) throws(ServiceError) -> Value {
        try Result(failingAt: directory.databasePath) { try queue.access(body) }.get()
    }

    /// Runs `body` like ``transaction(_:_:)``.
    package func transactionBlocking<Value, Failure: Error>(
        _ durability: Durability = .full,
        _ body: (Database) throws -> Result<Value, Failure>
    ) throws(ServiceError) -> Result<Value, Failure> {
        try Result(failingAt: directory.databasePath) {
            try queue.access { db in
                try setting.change(to: durability, db)
                defer { try? setting.change(to: .relaxed, db) }
                return try db.transaction(body)
            }
        }.get()
    }
}

/// The kind of failure that a write survives once it has returned.
package enum Durability: Sendable {
    /// The write survives a power failure, because the write-ahead log is synced before the write returns (`PRAGMA
    /// synchronous = FULL`).
    case full
    /// The write survives if the process is killed, but not a power failure (`PRAGMA synchronous = NORMAL`).
    ///
    /// The database stays consistent, but the last such writes may be lost.
    case relaxed
}

/// The durability of one connection's writes.
///
/// This is a setting of the connection and cannot be changed within a transaction.
final class DurabilitySetting: Sendable {
    /// The current setting, or `nil` before it is set, while SQLite's default applies.
    private let current = Mutex<Durability?>(nil)

    func change(to durability: Durability, _ db: Database) throws {
        try current.withLock { current in
            guard current != durability else { return }
            current = nil
            switch durability {
            case .full: try db.execute(sql: "PRAGMA synchronous = FULL")
            case .relaxed: try db.execute(sql: "PRAGMA synchronous = NORMAL")
            }
            current = durability
        }
    }
}
