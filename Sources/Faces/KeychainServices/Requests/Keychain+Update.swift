// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

/// Operations that change items.
///
/// As on Apple's systems, changing a protected item requires the same authentication as reading it. Keys in the TPM are
/// an exception, because they cannot be read.
extension Keychain {
    /// Changes the items that match a query, up to its limit.
    ///
    /// All steps that require the owner or the TPM are performed first. One transaction then changes the rows. If
    /// another process or thread changed one of the rows in the meantime, the update starts again. The owner is not
    /// prompted twice, because the context remembers the authentication.
    func update(_ request: KeychainRequest, _ change: KeychainRequest) throws(KeychainError) {
        guard request.itemClass != .identity else { throw KeychainError(errSecUnimplemented) }
        let values = try protectedValues(request)
        guard var match = try match(request) else { throw KeychainError(errSecItemNotFound) }
        var change = change
        if let value = change.value {
            change.attributes = try ItemReferences.changes(by: value, match.itemClass, change.attributes)
        }
        let group = try change.accessGroup.map { name throws(KeychainError) in try store.group(name) }
        let limit = request.limit ?? .max
        for _ in 0..<Keychain.tries {
            let items = try living(&match, values, withValues: true, limit: limit)
            let (prepared, dead) = try prepare(items, change, values)
            match.leftOut.formUnion(dead)
            let count = try store.update(match, limit: limit) { item throws(KeychainError) in
                let record = try change.changed(item.record, group)
                switch item.contents {
                case .value(let value) where !record.protection.isConstrained:
                    return NewKeychainRow(record, .plain(change.value ?? value))
                // Items that were tampered with are left out when the update starts again.
                case .damaged, .encrypted: return nil
                case .value, .sealed: return prepared[item.version].map { NewKeychainRow(record, $0) }
                }
            } unless: { old throws(KeychainError) in
                try values.isDead(old)
            }
            // Another process or thread added or changed an item. Nothing is written before all items are prepared.
            guard let count else { continue }
            guard count > 0 else { throw KeychainError(errSecItemNotFound) }
            return
        }
        throw KeychainError(errSecIO)
    }

    /// The maximum number of attempts while other processes or threads keep changing the items.
    private static let tries = 100

    /// Returns the new values of items that the TPM seals before or after the change.
    ///
    /// Also returns the items that can never be opened again or were tampered with. These items are not changed.
    private func prepare(
        _ items: [KeychainRow],
        _ change: KeychainRequest,
        _ values: ProtectedValues
    ) throws(KeychainError) -> (contents: [KeychainRowVersion: NewKeychainContents], dead: [Int64]) {
        var prepared: [KeychainRowVersion: NewKeychainContents] = [:]
        var dead: [Int64] = []
        for item in items {
            let protection = try change.changed(item.record, nil).protection
            switch item.contents {
            case .encrypted, .damaged: dead.append(item.id)
            case .value(let value):
                guard protection.isConstrained else { continue }
                prepared[item.version] = .sealed(try values.seal(change.value ?? value, protection))
            case .sealed(let sealed):
                let keepsFlags = protection.flags == item.record.protection.flags
                if sealed.kind == .key {
                    // The owner is not prompted: a change neither reads the private half nor removes the access control
                    // of its use.
                    guard change.value == nil, keepsFlags else { throw KeychainError(errSecParam) }
                    prepared[item.version] = .sealed(sealed)
                    continue
                }
                switch try values.open(sealed) {
                case .dead: dead.append(item.id)
                case .value(let value):
                    prepared[item.version] =
                        if !protection.isConstrained {
                            .plain(change.value ?? value)
                        } else if change.value == nil, keepsFlags {
                            .sealed(sealed)
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
    /// Returns a record with this dictionary's changes.
    ///
    /// - Throws: `errSecParam` if the changed item would be contradictory or too large; `errSecNoSuchAttr` for an
    ///   attribute that items of the class cannot have.
    func changed(_ record: KeychainRecord, _ group: String?) throws(KeychainError) -> KeychainRecord {
        var changed = record
        if let group { changed.accessGroup = group }
        if let accessControl {
            changed.protection = accessControl
        } else if let accessible {
            changed.accessible = accessible
        }
        if let synchronizable { changed.isSynchronizable = synchronizable == .yes }
        if value != nil { changed.hasValue = true }
        changed.attributes["mdat"] = .date(Date().timeIntervalSince1970)
        for (name, value) in attributes {
            guard record.itemClass.forms[name] != nil else { throw KeychainError(errSecNoSuchAttr) }
            changed.attributes[name] = value
        }
        guard !changed.isSynchronizable || changed.maySynchronize, changed.size <= KeychainRecord.mostBytes
        else {
            throw KeychainError(errSecParam)
        }
        return changed
    }

    /// Whether the dictionary changes nothing.
    var changesNothing: Bool {
        attributes.isEmpty && value == nil && accessGroup == nil && accessible == nil && accessControl == nil
            && synchronizable == nil
    }
}
