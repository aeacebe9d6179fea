// SPDX-License-Identifier: Apache-2.0

import Dispatch
import WhorlRemote
import WhorlService

/// Moves the keychain's items from a user's own directory to the system service.
///
/// The user's own directory is not changed. Each item is stored in the service by one transaction, which refuses an
/// item that already exists. So an interrupted run does not lose any items, and the next run continues where it
/// stopped.
struct KeychainMigration: Sendable {
    /// The services for the user's own directory.
    let own: Services
    /// The keychain rows that all programs have stored in that directory.
    let stored: StoredKeychain
    /// The services that the system service provides.
    let service: Services
    /// Returns the system service's rows for an access group.
    let keychain: @Sendable (String) throws -> any KeychainRowService

    /// Reads the items on both sides and decides which to move, without prompting the owner.
    func plan() async throws -> KeychainMigrationPlan {
        let own = try await ownItems()
        guard stored.count > 0 else {
            return KeychainMigrationPlan(
                own: [],
                unreadable: 0,
                service: [],
                conditions: .init(hasPasscode: false, hasFingers: false)
            )
        }
        var there: [KeychainRow] = []
        for group in stored.groups {
            let rows = try keychain(group)
            for itemClass in KeychainClass.allCases {
                there += try await Self.all(itemClass, group, rows)
            }
        }
        return KeychainMigrationPlan(
            own: own,
            unreadable: max(0, stored.count - own.count),
            service: there,
            conditions: .init(
                hasPasscode: try await service.ask(IsPasscodeSet()),
                hasFingers: try await !service.ask(ListFingers()).isEmpty
            )
        )
    }

    private func ownItems() async throws -> [KeychainMigrationPlan.Own] {
        var found: [KeychainMigrationPlan.Own] = []
        for group in stored.groups {
            for itemClass in KeychainClass.allCases {
                for row in try await Self.all(itemClass, group, stored.rows(group)) {
                    found.append(try await item(row))
                }
            }
        }
        return found
    }

    /// Checks whether an item's value can be read; only one value is in memory at a time.
    private func item(_ row: KeychainRow) async throws -> KeychainMigrationPlan.Own {
        guard let sealed = row.contents.item else {
            let isWhole = try await value(of: row) != nil
            return .init(row: row, standing: isWhole ? .valid : .tampered)
        }
        // The access control recorded by the TPM, not the one in the row. Bytes in another format are not an item.
        guard let item = try? own.sealedItem(encoded: sealed.encoded) else {
            return .init(row: row, standing: .tampered)
        }
        let standing = try await own.standing(of: [item])
        return .init(
            row: KeychainRow(row.version, row.record, .sealed(item)),
            standing: standing.first ?? .unknown
        )
    }

    /// Returns the current state of an item, with the value that the directory's key encrypts.
    ///
    /// Returns `nil` if the item has changed since it was read, or cannot be decrypted.
    func value(of row: KeychainRow) async throws -> KeychainContents? {
        var match = KeychainMatch(row.record.itemClass, groups: [row.record.accessGroup])
        match.id = row.id
        match.isSynchronizable = nil
        let rows = stored.rows(row.record.accessGroup)
        let asked = match
        let now = try await blocking {
            try rows.rows(asked, withValues: true, limit: 1)
        }
        guard let now = now.first, now.version == row.version, now.contents != .damaged else { return nil }
        return now.contents
    }

    private static func all(
        _ itemClass: KeychainClass,
        _ group: String,
        _ rows: any KeychainRowService
    ) async throws -> [KeychainRow] {
        var match = KeychainMatch(itemClass, groups: [group])
        match.isSynchronizable = nil
        let asked = match
        return try await blocking {
            try rows.rows(asked, withValues: false, limit: .max)
        }
    }
}

/// Runs a blocking access to the keychain's rows on a thread outside the shared pool.
func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { done in
        DispatchQueue.global().async { done.resume(with: Result(catching: body)) }
    }
}
