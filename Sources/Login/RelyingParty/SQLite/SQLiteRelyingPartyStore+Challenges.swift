// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import GRDB
internal import LoginAssertion

extension SQLiteRelyingPartyStore: RelyingPartyStore {
    /// See ``RelyingPartyStore/count(_:at:)``.
    public func count(_ bucket: RateBucket, at now: Int) async throws(RelyingPartyError) -> Int? {
        try await write(.process) { try $0.count(bucket, at: now) }
    }

    /// See ``RelyingPartyStore/refund(_:at:)``.
    public func refund(_ bucket: RateBucket, at now: Int) async throws(RelyingPartyError) {
        try await write(.process) { try $0.run(SQLiteStatements.refundTry, [bucket.key, now]) }
    }

    /// See ``RelyingPartyStore/challengeKey()``.
    public func challengeKey() async throws(RelyingPartyError) -> Data {
        guard let key = try await document(ChallengeKey.document) else {
            throw RelyingPartyError(.store, cause: "\(path): the key for challenges is missing")
        }
        return key
    }

    /// See ``RelyingPartyStore/use(_:audit:)``.
    public func use(_ nonce: Nonce, audit: AuditEntry?) async throws(RelyingPartyError) -> Bool {
        try await write(.process) { db in
            guard try db.use(nonce) else { return false }
            if let audit { try db.write(audit) }
            return true
        }
    }

    /// See ``RelyingPartyStore/signIn(_:using:audit:)``.
    public func signIn(
        _ device: RegisteredDevice,
        using nonce: Nonce?,
        audit: AuditEntry
    ) async throws(RelyingPartyError) -> SigningIn {
        try await write(.process) { db in
            if let nonce { guard try db.use(nonce) else { return .challengeUsed } }
            try db.run(
                SQLiteStatements.markUsed,
                [device.lastUsedAt, device.user.text, device.device.text, device.keyID]
            )
            guard db.changesCount == 1 else { return .unknownKey }
            try db.write(audit)
            return .signedIn
        }
    }
}

extension Database {
    /// Uses up a challenge; returns `false` if it was used before.
    func use(_ nonce: Nonce) throws -> Bool {
        try run(SQLiteStatements.use, [nonce.bytes])
        return changesCount == 1
    }

    /// Counts an attempt in a bucket.
    ///
    /// - Returns: The number of seconds to wait if the limit has been reached, in which case nothing is written.
    fileprivate func count(_ bucket: RateBucket, at now: Int) throws -> Int? {
        var endsAt = now + bucket.seconds
        var count = 0
        // A window that ends later than the limit allows was written before the clock was set back, or with longer
        // windows.
        if let row = try fetchOne(Row.self, SQLiteStatements.readTries, [bucket.key]),
            ((now + 1)...(now + bucket.seconds)).contains(row[0] as Int)
        {
            endsAt = row[0]
            count = row[1]
        }
        guard count < bucket.count else { return endsAt - now }
        try run(SQLiteStatements.writeTries, [bucket.key, endsAt, count + 1])
        return nil
    }

    /// Runs a statement, which is prepared once per connection.
    func run(_ sql: String, _ arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func fetchOne<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type,
        _ sql: String,
        _ arguments: StatementArguments
    ) throws -> Value? {
        try Value.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func fetchOne(_ type: Row.Type, _ sql: String, _ arguments: StatementArguments) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func fetchAll(_ sql: String, _ arguments: StatementArguments) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }
}
