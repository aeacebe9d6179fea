// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
package import WhorlService

/// The rows of the keychain that a program may use, with Apple's statuses as errors.
///
/// The store never authenticates the owner; its callers enforce access controls. Its methods block the calling thread
/// until the service has finished. They may be called from any thread, and each call is a transaction.
package struct KeychainStore: Sendable {
    private let rows: any KeychainRowService

    /// Creates a store of the rows that a program may use.
    package init(_ parts: ContextParts) { rows = parts.keychain }

    /// The program's access groups.
    ///
    /// Items without a group are stored in the first one.
    package var groups: [String] { rows.groups }

    /// Returns the group that a dictionary specifies, or the program's own group.
    ///
    /// - Throws: `errSecMissingEntitlement` for a group that the program may not use.
    package func group(_ named: String?) throws(KeychainError) -> String {
        guard let named, !named.isEmpty else { return groups[0] }
        guard groups.containsBytes(of: named) else { throw KeychainError(errSecMissingEntitlement) }
        return named
    }

    /// Returns the matching items.
    ///
    /// - Parameters:
    ///   - match: The filter.
    ///   - withValues: Whether to decrypt values encrypted by the service.
    ///   - limit: The maximum number of items.
    /// - Returns: The items. If there is no limit, the oldest items come first.
    /// - Throws: `errSecNotAvailable`, `errSecIO`.
    package func items(
        _ match: KeychainMatch,
        withValues: Bool,
        limit: Int = .max
    ) throws(KeychainError) -> [KeychainRow] {
        try state(try rows.rows(match, withValues: withValues, limit: limit))
    }

    /// Deletes the items that match any of the filters, in one transaction.
    ///
    /// - Returns: The number of deleted items.
    package func delete(_ matches: [KeychainMatch]) throws(KeychainError) -> Int {
        try state(try rows.delete(matches))
    }

    /// A function that returns whether the TPM reports that an item can never be opened again.
    package typealias IsDead = (KeychainRow) throws(KeychainError) -> Bool

    /// Stores items, either all of them or none.
    ///
    /// - Parameters:
    ///   - new: The items, whose access groups must be among ``groups``.
    ///   - replaced: Items to delete if the new items are stored, unless the old ones have changed.
    ///   - isDead: A function that returns whether an existing item with the same identifying attributes can never be
    ///     opened again. If so, the new item replaces it.
    /// - Returns: The stored items.
    /// - Throws: `errSecDuplicateItem` if an item already exists; `errSecNotAvailable` if an item requires a passcode
    ///   and none is set, or if the store is unavailable; `errSecDiskFull` or `errSecIO` for other failures.
    package func add(
        _ new: [NewKeychainRow],
        inPlaceOf replaced: [KeychainRowVersion] = [],
        unless isDead: IsDead = { _ in false }
    ) throws(KeychainError) -> [KeychainRow] {
        let stored = try outcome(inPlaceOf: replaced, unless: isDead) { replacing throws(KeychainError) in
            try state(try rows.add(new, replacing: replacing))
        }
        return stored ?? []
    }

    /// Replaces the records and values of items, either all of them or none.
    ///
    /// If another caller changes one of the items between reading and writing, all items are read again.
    ///
    /// - Parameters:
    ///   - match: The items to change.
    ///   - limit: The maximum number of items.
    ///   - change: A function that returns the new record and value of an item, or `nil` if they are unknown because
    ///     another process or thread changed the item first. The function receives items with their values, and may be
    ///     called several times.
    ///   - isDead: A function that returns whether an existing item with the new identifying attributes can never be
    ///     opened again. If so, that item is deleted.
    /// - Returns: The number of changed items, or `nil` if `change` returned `nil` for one of them. In that case,
    ///   nothing was changed.
    /// - Throws: `errSecDuplicateItem` if two items would have the same identifying attributes, in which case nothing
    ///   was changed; otherwise, the same errors as ``add(_:inPlaceOf:unless:)``.
    package func update(
        _ match: KeychainMatch,
        limit: Int = .max,
        _ change: (KeychainRow) throws(KeychainError) -> NewKeychainRow?,
        unless isDead: IsDead = { _ in false }
    ) throws(KeychainError) -> Int? {
        let changed = try outcome(unless: isDead) { replacing throws(KeychainError) -> KeychainOutcome? in
            var changes: [KeychainRowChange] = []
            for item in try items(match, withValues: true, limit: limit) {
                guard let new = try change(item) else { return nil }
                changes.append(KeychainRowChange(item.version, to: new))
            }
            guard !changes.isEmpty else { return .stored([]) }
            return try state(try rows.update(changes, replacing: replacing))
        }
        return changed?.count
    }

    /// The maximum number of attempts.
    ///
    /// An attempt is repeated if it deleted a row that can never be opened again, or if another caller changed a row. A
    /// lock cannot replace this: a call may run the program's main loop while it waits for the service, and the loop
    /// may start another call.
    private static let tries = 1000

    /// Repeats an attempt until its rows are stored, or returns `nil` if the attempt returns `nil`.
    private func outcome(
        inPlaceOf replaced: [KeychainRowVersion] = [],
        unless isDead: IsDead,
        _ attempt: ([KeychainRowVersion]) throws(KeychainError) -> KeychainOutcome?
    ) throws(KeychainError) -> [KeychainRow]? {
        var replacing = replaced
        for _ in 0..<KeychainStore.tries {
            switch try attempt(replacing) {
            case .stored(let rows)?: return rows
            case .taken(by: let row)?:
                guard try isDead(row) else { throw KeychainError(errSecDuplicateItem) }
                replacing.append(row.version)
            case .stale?: break
            case .noPasscode?: throw KeychainError(errSecNotAvailable)
            case .groupRefused?: throw KeychainError(errSecMissingEntitlement)
            case nil: return nil
            }
        }
        throw KeychainError(errSecIO)
    }

    /// Performs a call to the service and converts its error to a status.
    private func state<Value>(_ call: @autoclosure () throws(ServiceError) -> Value) throws(KeychainError)
        -> Value
    {
        do { return try call() } catch { throw KeychainError(error) }
    }
}

/// The access control of a record, using Apple's values.
extension KeychainRecord {
    /// Creates a record.
    package init(
        _ itemClass: KeychainClass,
        accessGroup: String,
        protection: SecAccessControl,
        isSynchronizable: Bool = false,
        hasValue: Bool = true,
        attributes: [String: AttributeValue]
    ) {
        self.init(
            itemClass,
            accessGroup: accessGroup,
            accessible: protection.protection,
            flags: UInt64(protection.flags.rawValue),
            isSynchronizable: isSynchronizable,
            hasValue: hasValue,
            attributes: attributes
        )
    }

    /// The access control of the item.
    package var protection: SecAccessControl {
        get {
            let flags = SecAccessControlCreateFlags(rawValue: CFOptionFlags(flags))
            return SecAccessControl(protection: accessible, flags: flags)
        }
        set {
            accessible = newValue.protection
            flags = UInt64(newValue.flags.rawValue)
        }
    }
}

extension KeychainMatch {
    /// Excludes items that require the owner to authenticate.
    mutating func leaveOutProtected() {
        leftOutFlags = UInt64(SecAccessControlCreateFlags.protecting.rawValue)
    }
}

extension KeychainRow {
    /// The persistent reference of the item.
    package var reference: PersistentReference { PersistentReference(record.itemClass, id) }
}

extension AttributeValue {
    /// The value as an object to return to the program.
    var object: AnyObject {
        switch self {
        case .text(let text): text as NSString
        case .data(let data): data as NSData
        case .number(let number): NSNumber(value: number)
        case .date(let seconds): Date(timeIntervalSince1970: seconds) as NSDate
        }
    }
}
