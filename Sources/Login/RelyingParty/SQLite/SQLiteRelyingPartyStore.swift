// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import GRDB

/// A store in an SQLite database, for one machine; several processes can use it at the same time.
///
/// The database is in WAL mode. Changes to devices and documents are synced to disk before they are acknowledged. The
/// writes of a sign-in are not: they survive the end of the process, but may be lost in a power failure. A used
/// challenge must not become valid again that way. When the store is first opened after a reboot, it therefore creates
/// a new key for challenges, which invalidates all earlier challenges.
///
/// If the file is removed or replaced, every operation fails until the file is back or the store is opened again.
/// Otherwise, writes would be lost, and the store would not see what other processes write at the path.
public final class SQLiteRelyingPartyStore: Sendable {
    /// The path of the database.
    public let path: String
    private let queue: DatabaseQueue
    private let identity: SQLiteFileIdentity
    private let durability = SQLiteDurability()
    private let waits = WaitingOperations()

    /// Opens the database.
    ///
    /// A file is refused and left unchanged if it is not a database of this type and version, or if other users can
    /// access it.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - ifMissing: Whether to create a missing database, with mode 0600; its directory must exist.
    /// - Throws: `store`.
    public convenience init(path: String, ifMissing: MissingDatabase = .refuse) throws(RelyingPartyError) {
        try self.init(path: path, ifMissing: ifMissing, bootID: MachineBoot.id())
    }

    /// Opens the database with the given boot ID; if it is `nil`, a new key for challenges is created each time.
    init(path: String, ifMissing: MissingDatabase = .create, bootID: String?) throws(RelyingPartyError) {
        self.path = path
        do {
            (queue, identity) = try SQLiteFile(path: path).open(ifMissing: ifMissing)
            try queue.writeWithoutTransaction { [durability] db in
                try durability.change(to: .full, db)
                try db.inTransaction(.immediate) {
                    try Self.renewChallengeKey(unless: bootID, db)
                    return .commit
                }
            }
        } catch {
            throw RelyingPartyError(sqlite: error, path: path)
        }
    }

    private static func renewChallengeKey(unless bootID: String?, _ db: Database) throws {
        let known = try String.fetchOne(db, sql: "SELECT value FROM meta WHERE name = 'boot'")
        let key = try db.fetchOne(Data.self, SQLiteStatements.document, [ChallengeKey.document])
        guard bootID == nil || known != bootID || key == nil else { return }
        try db.run(SQLiteStatements.setDocument, [ChallengeKey.document, ChallengeKey.make()])
        try db.execute(
            sql: "INSERT OR REPLACE INTO meta (name, value) VALUES ('boot', ?)",
            arguments: [bootID ?? ""]
        )
    }

    /// The operations that are waiting for the connection, or for another process to finish writing.
    public var waiting: StoreWait { waits.now }

    /// Runs `body` in an IMMEDIATE transaction on the connection's thread, and completes it even if the task is
    /// cancelled.
    func write<Value: Sendable>(
        _ level: SQLiteDurability.Level,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(RelyingPartyError) -> Value {
        typealias Answer = Result<Value, RelyingPartyError>
        let wait = waits.add()
        return try await withCheckedContinuation { (done: CheckedContinuation<Answer, Never>) in
            queue.asyncWriteWithoutTransaction { [self] db in
                done.resume(
                    returning: Answer(path) {
                        // If the transaction does not start, it has waited in vain for another process.
                        defer { waits.remove(wait) }
                        try durability.change(to: level, db)
                        var value: Value?
                        try db.inTransaction(.immediate) {
                            waits.remove(wait)
                            try requireFile()
                            value = try body(db)
                            return .commit
                        }
                        guard let value else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
                        return value
                    }
                )
            }
        }.get()
    }

    /// Runs `body`, which must consist of one statement that does not make changes.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(RelyingPartyError) -> Value {
        typealias Answer = Result<Value, RelyingPartyError>
        let wait = waits.add()
        return try await withCheckedContinuation { (done: CheckedContinuation<Answer, Never>) in
            queue.asyncWriteWithoutTransaction { [self] db in
                waits.remove(wait)
                done.resume(
                    returning: Answer(path) {
                        try requireFile()
                        return try body(db)
                    }
                )
            }
        }.get()
    }

    /// Checks that the database file still exists.
    ///
    /// - Throws: `store` if the file was removed or replaced after it was opened.
    private func requireFile() throws(RelyingPartyError) {
        guard !identity.isCurrent else { return }
        throw RelyingPartyError(
            .store,
            cause:
                "\(path): removed or replaced since it was opened; start the server again to use the file there"
        )
    }
}

extension Result where Failure == RelyingPartyError {
    fileprivate init(_ path: String, _ body: () throws -> Success) {
        do {
            self = .success(try body())
        } catch {
            self = .failure(RelyingPartyError(sqlite: error, path: path))
        }
    }
}

/// The statements executed at each sign-in; a test checks their query plans.
enum SQLiteStatements {
    static let readTries = "SELECT ends_at, count FROM tries WHERE bucket = ?"
    static let writeTries = "INSERT OR REPLACE INTO tries (bucket, ends_at, count) VALUES (?, ?, ?)"
    static let refundTry = "UPDATE tries SET count = count - 1 WHERE bucket = ? AND ends_at > ? AND count > 0"
    static let use = "INSERT INTO used_nonces (nonce) VALUES (?) ON CONFLICT DO NOTHING"
    static let device = "SELECT * FROM devices WHERE user = ? AND device = ?"
    static let devices = "SELECT * FROM devices WHERE user = ? ORDER BY enabled_at, device"
    static let markUsed = "UPDATE devices SET last_used_at = ? WHERE user = ? AND device = ? AND key_id = ?"
    static let isActive = """
        SELECT EXISTS (SELECT 1 FROM devices WHERE user = ? AND device = ? AND key_id = ?)
        """
    static let document = "SELECT data FROM documents WHERE name = ?"
    static let setDocument = "INSERT OR REPLACE INTO documents (name, data) VALUES (?, ?)"
    static let audit = """
        INSERT INTO audit (at, event, user, device, address, reason) VALUES (?, ?, ?, ?, ?, ?)
        """

    static let isUsed = "SELECT EXISTS (SELECT 1 FROM used_nonces WHERE nonce = ?)"

    /// Removes audit log entries older than a given time, starting with the oldest.
    static let purgeOldAudit = """
        DELETE FROM audit WHERE at < ? AND id IN (SELECT id FROM audit ORDER BY id LIMIT ?)
        """

    /// Removes the oldest entries of refused passwords, which outsiders can cause, beyond a given number.
    static let purgeRefusedPasswords = """
        DELETE FROM audit WHERE id IN (
            SELECT id FROM audit WHERE event = 'password_refused'
                AND id <= (
                    SELECT id FROM audit WHERE event = 'password_refused' ORDER BY id DESC LIMIT 1 OFFSET ?
                )
                ORDER BY id LIMIT ?
        )
        """

    /// Removes a user's oldest other entries beyond a given number.
    static let purgeAuditOfUser = """
        DELETE FROM audit WHERE id IN (
            SELECT id FROM audit WHERE user = ?1 AND event <> 'password_refused'
                AND id <= (
                    SELECT id FROM audit WHERE user = ?1 AND event <> 'password_refused'
                        ORDER BY id DESC LIMIT 1 OFFSET ?2
                )
                ORDER BY id LIMIT ?3
        )
        """

    static let ofEachSignIn = [
        readTries, writeTries, refundTry, use, device, devices, markUsed, isActive, audit, document,
    ]
}

/// The current boot of the machine.
enum MachineBoot {
    /// Returns the ID of the current boot; `nil` if the system does not provide it.
    ///
    /// Source: random(4), `/proc/sys/kernel/random/boot_id`.
    static func id() -> String? {
        guard let file = FileHandle(forReadingAtPath: "/proc/sys/kernel/random/boot_id"),
            let data = try? file.readToEnd(), let text = String(bytes: data, encoding: .utf8)
        else { return nil }
        let id = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return id.isEmpty ? nil : id
    }
}
