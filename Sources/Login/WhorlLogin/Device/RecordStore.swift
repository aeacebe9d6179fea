// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import FoundationEssentials
internal import LoginAssertion
internal import WhorlService

/// A store of records; each is a generic password in the keychain, with the server as its service and the user as its
/// account.
///
/// The keychain meets all requirements of a record. A row is written in one durable transaction. It is encrypted and
/// bound to its attributes with the state key, which the TPM seals. The user's other programs have other access groups,
/// and a test device has separate rows. The key inside is a ``SealedItem``, which only the TPM can open.
struct RecordStore: Sendable {
    let parts: ContextParts
    /// The service name, which distinguishes these rows from the program's other rows.
    let service: String

    private static let queue = DispatchQueue(label: "whorl.login-records", attributes: .concurrent)

    /// Returns the accounts that have a record, oldest first.
    func accounts() async throws(LoginError) -> [String] {
        try await inKeychain { rows throws(ServiceError) in
            try rows.rows(match(nil, rows), withValues: false, limit: .max).compactMap { item in
                guard case .text(let account)? = item.record.attributes["acct"] else { return nil }
                return account
            }
        }
    }

    /// Returns the record; `nil` if it does not exist.
    ///
    /// A record that cannot be decoded counts as missing, and is replaced when a record is next stored.
    func record<Record: Decodable & Sendable>(of account: String, as: Record.Type) async throws(LoginError)
        -> Record?
    {
        try await inKeychain { rows throws(ServiceError) in
            try row(account, rows).flatMap(RecordStore.decoded)
        }
    }

    /// Stores a record, replacing the current one; it is on disk when this returns.
    func put(_ record: some Codable & Sendable, of account: String, label: String) async throws(LoginError) {
        try await change(account, label: label) { _ in record }
    }

    /// Changes the current record in one transaction, regardless of what was read before.
    ///
    /// `change` returns the new record, or `nil` to leave it unchanged. Its argument is `nil` if the record does not
    /// exist or cannot be decoded; the returned record is then added. `change` is called again if another process
    /// changes the record first. The change is on disk when this returns; the result is whether anything was written.
    @discardableResult
    func change<Record: Codable & Sendable>(
        _ account: String,
        label: String,
        _ change: @escaping @Sendable (Record?) -> Record?
    ) async throws(LoginError) -> Bool {
        try await inKeychain { rows throws(ServiceError) in
            for _ in 0..<RecordStore.tries {
                let present = try row(account, rows)
                guard let record = change(present.flatMap(RecordStore.decoded)) else { return false }
                let new = try newRow(record, account, label, rows)
                let outcome =
                    if let present {
                        try rows.update([KeychainRowChange(present.version, to: new)], replacing: [])
                    } else {
                        try rows.add([new], replacing: [])
                    }
                switch outcome {
                case .stored: return true
                case .taken, .stale: break
                case .noPasscode, .groupRefused:
                    throw ServiceError(
                        .storeFailed,
                        cause: "the service does not store the login record"
                    )
                }
            }
            throw ServiceError(.storeFailed, cause: "other programs keep changing the login record")
        }
    }

    /// Deletes a record; a missing record is not an error.
    @discardableResult
    func delete(_ account: String) async throws(LoginError) -> Bool {
        try await inKeychain { rows throws(ServiceError) in try rows.delete([match(account, rows)]) > 0 }
    }

    /// The maximum number of attempts to change a record; each attempt is needed only if another process has changed
    /// the record during the one before.
    private static let tries = 1000

    /// Returns the record in a row; `nil` if the value was tampered with, so that it cannot be decrypted or is not a
    /// record.
    private static func decoded<Record: Decodable>(_ item: KeychainRow) -> Record? {
        guard case .value(let value) = item.contents else { return nil }
        // A value that is not a record counts as missing.
        return try? JSONDecoder().decode(Record.self, from: value)
    }

    private func row(_ account: String, _ rows: any KeychainRowService) throws(ServiceError) -> KeychainRow? {
        try rows.rows(match(account, rows), withValues: true, limit: 1).first
    }

    private func newRow(
        _ record: some Encodable,
        _ account: String,
        _ label: String,
        _ rows: any KeychainRowService
    ) throws(ServiceError) -> NewKeychainRow {
        // JSON can represent every record.
        guard let value = try? JSONEncoder().encode(record) else {
            throw ServiceError(.storeFailed, cause: "the login record cannot be written")
        }
        let description = KeychainRecord(
            .genericPassword,
            accessGroup: rows.groups[0],
            // `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`: the key inside is sealed, and the rest is not secret.
            accessible: "cku",
            flags: 0,
            isSynchronizable: false,
            attributes: ["svce": .text(service), "acct": .text(account), "labl": .text(label)]
        )
        return NewKeychainRow(description, .plain(value))
    }

    private func match(_ account: String?, _ rows: any KeychainRowService) -> KeychainMatch {
        var match = KeychainMatch(.genericPassword, groups: [rows.groups[0]])
        match.attributes["svce"] = .text(service)
        if let account { match.attributes["acct"] = .text(account) }
        return match
    }

    /// Performs blocking keychain calls on a Dispatch thread instead of a thread of the shared pool.
    private func inKeychain<Value: Sendable>(
        _ body: @escaping @Sendable (any KeychainRowService) throws(ServiceError) -> Value
    ) async throws(LoginError) -> Value {
        let rows = parts.keychain
        let result = await withCheckedContinuation {
            (done: CheckedContinuation<Result<Value, ServiceError>, Never>) in
            Self.queue.async { done.resume(returning: Result { () throws(ServiceError) in try body(rows) }) }
        }
        return try result.mapError { LoginError(.service($0)) }.get()
    }
}
