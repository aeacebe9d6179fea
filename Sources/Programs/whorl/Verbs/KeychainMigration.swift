// SPDX-License-Identifier: Apache-2.0

import Dispatch
import WhorlRemote
import WhorlService

/// The move of the keychain's items from a user's own directory into the system's service.
///
/// Nothing of the own directory is changed. Each item is stored in the service by one transaction, which refuses what is
/// there already: a run that ends anywhere has moved some items and lost none, and the next one goes on.
struct KeychainMigration: Sendable {
    /// The services of the own directory.
    let own: Services
    /// The keychain's rows there, of all programs.
    let stored: StoredKeychain
    /// The services of the system's service.
    let service: Services
    /// Returns the service's rows in an access group.
    let keychain: @Sendable (String) throws -> any KeychainRowService

    /// Reads what there is on both sides, and decides; the owner is not asked.
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

    /// Looks whether an item's value can be had, one value at a time.
    private func item(_ row: KeychainRow) async throws -> KeychainMigrationPlan.Own {
        guard let sealed = row.contents.item else {
            let isWhole = try await value(of: row) != nil
            return .init(row: row, standing: isWhole ? .valid : .tampered)
        }
        // The chip's own word on the access control, and not the row's. Bytes of another form are no item.
        guard let item = try? own.sealedItem(encoded: sealed.encoded) else {
            return .init(row: row, standing: .tampered)
        }
        let standing = try await own.standing(of: [item])
        return .init(
            row: KeychainRow(row.version, row.record, .sealed(item)),
            standing: standing.first ?? .unknown
        )
    }

    /// Returns an item as it is now, with the value that the directory's key encrypts; `nil` where it has changed since it
    /// was read, or does not decrypt.
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

/// Calls the keychain's rows, which block, on a thread that is not of the shared pool.
func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { done in
        DispatchQueue.global().async { done.resume(with: Result(catching: body)) }
    }
}
