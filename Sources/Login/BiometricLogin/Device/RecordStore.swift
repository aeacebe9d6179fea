// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
internal import Dispatch
internal import Foundation
internal import KeychainServices
internal import LoginAssertion
internal import WhorlService

/// A store of records: one generic password of the keychain for each, with the server as its service and the user as
/// its account.
///
/// A row of the keychain meets all needs of a record: it is written in one durable transaction, encrypted and bound to
/// its attributes under the state key, which the chip seals; another program of the user has another access group; and
/// a test device has rows of its own. The key inside is a ``SealedItem``, which only the chip opens.
struct RecordStore: Sendable {
    let parts: ContextParts
    /// The service, which distinguishes these rows from others of the program.
    let service: String

    private static let queue = DispatchQueue(label: "whorl.login-records", attributes: .concurrent)

    /// Returns the accounts that have a record, older ones first.
    func accounts() async throws(LoginError) -> [String] {
        try await inKeychain { store throws(KeychainError) in
            try store.items(match(nil, store), withValues: false).compactMap { item in
                guard case .text(let account)? = item.record.attributes["acct"] else { return nil }
                return account
            }
        }
    }

    /// Returns the record; `nil` if there is none.
    ///
    /// A record that cannot be read counts as none, and the next one replaces it.
    func record<Record: Decodable & Sendable>(of account: String, as: Record.Type) async throws(LoginError)
        -> Record?
    {
        try await inKeychain { store throws(KeychainError) in
            guard let item = try store.items(match(account, store), withValues: true, limit: 1).first else {
                return nil
            }
            return RecordStore.decoded(item)
        }
    }

    /// Stores a record, and replaces the present one; it is on the disk when this returns.
    func put(_ record: some Codable & Sendable, of account: String, label: String) async throws(LoginError) {
        try await change(account, label: label) { _ in record }
    }

    /// Changes the current record in one transaction: an earlier read of it does not count.
    ///
    /// `change` returns the new record, or `nil` to leave it unchanged. Its argument is `nil` if there is no record, or
    /// none that can be read; the record that it returns then is added. It is called again if another process changes
    /// the record first. The change is on the disk when this returns; the result says whether anything was written.
    @discardableResult
    func change<Record: Codable & Sendable>(
        _ account: String,
        label: String,
        _ change: @escaping @Sendable (Record?) -> Record?
    ) async throws(LoginError) -> Bool {
        try await inKeychain { store throws(KeychainError) in
            let row = KeychainRecord(
                .genericPassword,
                accessGroup: store.groups[0],
                protection: .unguarded,
                attributes: ["svce": .text(service), "acct": .text(account), "labl": .text(label)]
            )
            func changed(_ present: Record?) throws(KeychainError) -> NewKeychainRow? {
                guard let record = change(present) else { return nil }
                guard let value = try? JSONEncoder().encode(record) else { throw KeychainError(errSecParam) }
                return NewKeychainRow(row, .plain(value))
            }
            let count = try store.update(match(account, store)) { item throws(KeychainError) in
                try changed(RecordStore.decoded(item))
            }
            // Either the present record stays as it is, or it was changed, or there is none.
            guard let count else { return false }
            guard count == 0 else { return true }
            guard let new = try changed(nil) else { return false }
            _ = try store.add([new])
            return true
        }
    }

    /// Deletes a record; a missing record is not an error.
    @discardableResult
    func delete(_ account: String) async throws(LoginError) -> Bool {
        try await inKeychain { store throws(KeychainError) in try store.delete([match(account, store)]) > 0 }
    }

    /// Returns the record in a row; `nil` for a value that does not decrypt or is no record, which was edited from
    /// outside.
    private static func decoded<Record: Decodable>(_ item: KeychainRow) -> Record? {
        guard case .value(let value) = item.contents else { return nil }
        // A value that is no record counts as none.
        return try? JSONDecoder().decode(Record.self, from: value)
    }

    private func match(_ account: String?, _ store: KeychainStore) -> KeychainMatch {
        var match = KeychainMatch(.genericPassword, groups: [store.groups[0]])
        match.attributes["svce"] = .text(service)
        if let account { match.attributes["acct"] = .text(account) }
        return match
    }

    /// Performs keychain calls, which block, on a thread of Dispatch instead of one of the shared pool.
    private func inKeychain<Value: Sendable>(
        _ body: @escaping @Sendable (KeychainStore) throws(KeychainError) -> Value
    ) async throws(LoginError) -> Value {
        let parts = parts
        let result = await withCheckedContinuation {
            (done: CheckedContinuation<Result<Value, KeychainError>, Never>) in
            Self.queue.async {
                done.resume(
                    returning: Result { () throws(KeychainError) in try body(KeychainStore(parts)) }
                )
            }
        }
        // The error of the state is more specific than the keychain's number.
        return try result.mapError { LoginError($0.cause.map { .service($0) } ?? .keychain($0.status)) }.get()
    }
}
