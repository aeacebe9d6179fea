// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import GRDB

/// A store in one SQLite database, for one machine; several processes may have it open.
///
/// The database is in WAL mode. A change of devices or documents is synced to the disk before it is acknowledged. The
/// writes of a sign-in are not: they survive the end of the process, and a power cut may lose them. An answered
/// challenge must not come back that way; therefore the first opening after the machine has started makes another key
/// of challenges, and all that were issued before are worth nothing.
///
/// Each operation fails after the file was removed or replaced, until the file is back or the store is opened again: what
/// it wrote would be lost, and it would not see what others write at the path.
public final class SQLiteRelyingPartyStore: Sendable {
    /// The path of the database.
    public let path: String
    private let queue: DatabaseQueue
    private let identity: SQLiteFileIdentity
    private let durability = SQLiteDurability()
    private let waits = WaitingOperations()

    /// Opens the database.
    ///
    /// A file that is not a database of this kind and version, or that others may use, is refused and stays unchanged.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - ifMissing: Whether a missing database is made, with mode 0600; its directory must exist.
    /// - Throws: `store`.
    public convenience init(path: String, ifMissing: MissingDatabase = .refuse) throws(RelyingPartyError) {
        try self.init(path: path, ifMissing: ifMissing, bootID: MachineBoot.id())
    }

    /// Opens the database with another boot ID; if it is `nil`, each opening makes another key of challenges.
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

    /// The operations that wait: for their turn at the connection, or for the write of another process.
    public var waiting: StoreWait { waits.now }

    /// Runs `body` in an IMMEDIATE transaction on the connection's own thread, to its end even if the task is
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
                        // A transaction that does not begin has waited for another process in vain.
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

    /// Runs `body`, which must be one statement that changes nothing.
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

/// The statements that run at each sign-in; a test checks their query plans.
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

    /// Removes lines of the audit log of before a time, which are the first.
    static let purgeOldAudit = """
        DELETE FROM audit WHERE at < ? AND id IN (SELECT id FROM audit ORDER BY id LIMIT ?)
        """

    /// Removes the oldest lines of refused passwords, which strangers can cause, beyond a number.
    static let purgeRefusedPasswords = """
        DELETE FROM audit WHERE id IN (
            SELECT id FROM audit WHERE event = 'password_refused'
                AND id <= (
                    SELECT id FROM audit WHERE event = 'password_refused' ORDER BY id DESC LIMIT 1 OFFSET ?
                )
                ORDER BY id LIMIT ?
        )
        """

    /// Removes the oldest other lines of a user beyond a number.
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

/// The time since the machine started.
enum MachineBoot {
    /// Returns the identifier of the current boot; `nil` if the system gives none.
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
