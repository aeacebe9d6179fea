// SPDX-License-Identifier: Apache-2.0

/// Changing items: a change of a protected item requires the same authentication as reading it, as on Apple's systems,
/// except for keys in the chip, which cannot be read.
extension Keychain {
    /// Changes all items that a query selects.
    ///
    /// All steps that need the owner or the chip come first; then one transaction changes the rows. If another process
    /// or thread has changed one of the rows in between, the update starts again: the owner is not asked twice, since
    /// the context remembers the authentication.
    func update(_ request: KeychainRequest, _ change: KeychainRequest) throws(KeychainError) {
        let values = try protectedValues(request)
        guard var match = try match(request) else { throw KeychainError(errSecItemNotFound) }
        var change = change
        if let value = change.value {
            change.attributes = try ItemReferences.changes(by: value, match.itemClass, change.attributes)
        }
        let group = try change.accessGroup.map { name throws(KeychainError) in try store.group(name) }
        for _ in 0..<Keychain.tries {
            let items = try living(&match, values, withValues: true)
            let (prepared, dead) = try prepare(items, change, values)
            match.leftOut.formUnion(dead)
            let count = try store.update(match) { item throws(KeychainError) in
                let record = try change.changed(item.record, group)
                if case .sealed = item.contents, !record.protection.isConstrained {
                    // An item that was tampered with is left out when the update starts again.
                    guard let value = try store.soundValue(of: item) else { return nil }
                    return .init(record, .plain(change.value ?? value))
                }
                return prepared[item].map { .init(record, $0) }
            } unless: { old throws(KeychainError) in
                try values.isDead(old)
            }
            // Another process or thread has added or changed an item; nothing is written before all items are prepared.
            guard let count else { continue }
            guard count > 0 else { throw KeychainError(errSecItemNotFound) }
            return
        }
        throw KeychainError(errSecIO)
    }

    /// The maximum number of attempts if other processes or threads keep changing the items.
    private static let tries = 100

    /// Returns the new values of items that the chip seals, before or after the change, and the items that can never be
    /// opened again or were tampered with, which are not changed.
    private func prepare(
        _ items: [KeychainItem],
        _ change: KeychainRequest,
        _ values: ProtectedValues
    ) throws(KeychainError) -> (contents: [KeychainItem: KeychainStore.NewContents], dead: [Int64]) {
        var prepared: [KeychainItem: KeychainStore.NewContents] = [:]
        var dead: [Int64] = []
        for item in items {
            let protection = try change.changed(item.record, nil).protection
            switch item.contents {
            case .key:
                // The owner is not asked: a change does not read the private half, and cannot remove the access control
                // of its use.
                guard change.value == nil, protection.flags == item.record.flags else {
                    throw KeychainError(errSecParam)
                }
                prepared[item] = .sealed(item.contents)
            case .sealed:
                guard let value = try store.soundValue(of: item) else {
                    dead.append(item.id)
                    continue
                }
                guard protection.isConstrained else { continue }
                prepared[item] = .sealed(try values.seal(change.value ?? value, protection))
            case .secret(let sealed):
                switch try values.open(sealed) {
                case .dead: dead.append(item.id)
                case .value(let value):
                    prepared[item] =
                        if !protection.isConstrained {
                            .plain(change.value ?? value)
                        } else if change.value == nil, protection.flags == item.record.flags {
                            .sealed(item.contents)
                        } else {
                            .sealed(try values.seal(change.value ?? value, protection))
                        }
                }
            }
        }
        return (prepared, dead)
    }
}

extension KeychainRequest {
    /// Returns a record with the changes of this dictionary.
    ///
    /// - Throws: `errSecParam` for an empty dictionary, and if the item would contradict itself; `errSecNoSuchAttr`.
    func changed(_ record: ItemRecord, _ group: String?) throws(KeychainError) -> ItemRecord {
        var changed = record
        if let group { changed.accessGroup = group }
        if let accessControl {
            changed.protection = accessControl
        } else if let accessible {
            changed.accessible = accessible
        }
        if let synchronizable { changed.isSynchronizable = synchronizable == .yes }
        changed.attributes["mdat"] = .date(Date().timeIntervalSince1970)
        for (name, value) in attributes {
            guard record.itemClass.forms[name] != nil else { throw KeychainError(errSecNoSuchAttr) }
            changed.attributes[name] = value
        }
        guard !changed.isSynchronizable || changed.maySynchronize else { throw KeychainError(errSecParam) }
        return changed
    }

    /// Whether the dictionary changes nothing.
    var changesNothing: Bool {
        attributes.isEmpty && value == nil && accessGroup == nil && accessible == nil && accessControl == nil
            && synchronizable == nil
    }
}
