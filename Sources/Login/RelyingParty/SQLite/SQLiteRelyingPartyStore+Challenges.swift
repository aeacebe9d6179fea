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

    /// See ``RelyingPartyStore/issue(_:address:device:at:)``.
    public func issue(
        _ challenge: ChallengeRecord,
        address: RateBucket?,
        device: RateBucket?,
        at now: Int
    ) async throws(RelyingPartyError) -> Issue {
        try await write(.process) { db in
            if let wait = try db.count(address, at: now) { return .tooMany(retryAfter: wait) }
            if let wait = try db.count(device, at: now) { return .tooMany(retryAfter: wait) }
            try db.run(
                SQLiteStatements.issue,
                [
                    challenge.digest, challenge.user.text, challenge.device?.text ?? "",
                    challenge.use.rawValue, challenge.expiresAt,
                ]
            )
            return .issued
        }
    }

    /// See ``RelyingPartyStore/take(_:address:at:)``.
    public func take(
        _ digest: Data,
        address: RateBucket?,
        at now: Int
    ) async throws(RelyingPartyError) -> Taken {
        try await write(.process) { db in
            if let wait = try db.count(address, at: now) { return .tooMany(retryAfter: wait) }
            guard let row = try db.fetchOne(Row.self, SQLiteStatements.take, [digest]) else {
                return .unknown
            }
            let record = try ChallengeRecord(digest: digest, row)
            let rows =
                if let device = record.device {
                    try db.fetchAll(SQLiteStatements.device, [record.user.text, device.text])
                } else {
                    try db.fetchAll(SQLiteStatements.devices, [record.user.text])
                }
            return .taken(record, try rows.map(RegisteredDevice.init))
        }
    }
}

extension Database {
    /// Counts a try of a bucket.
    ///
    /// - Returns: The seconds to wait if the limit is reached; nothing is written then.
    fileprivate func count(_ bucket: RateBucket?, at now: Int) throws -> Int? {
        guard let bucket else { return nil }
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

    /// Runs a statement, which is prepared once for each connection.
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

extension ChallengeRecord {
    /// Reads a row of `challenges`.
    fileprivate init(digest: Data, _ row: Row) throws {
        let device: String = row[1]
        guard let user = LoginName(row[0]), let use = ChallengeUse(rawValue: row[2]),
            device.isEmpty || LoginName(device) != nil
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a row of challenges") }
        self.init(digest: digest, user: user, device: LoginName(device), use: use, expiresAt: row[3])
    }
}
