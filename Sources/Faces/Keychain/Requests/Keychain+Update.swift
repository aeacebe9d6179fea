// SPDX-License-Identifier: Apache-2.0

/// Changing items: whoever changes a protected one shows what reading it takes, as on Apple's systems; but a key of the
/// chip is read by nobody.
extension Keychain {
    /// Changes all items that are meant.
    ///
    /// What needs the owner or the chip is done first, and the rows are changed in one transaction then. Where somebody
    /// else has changed one of them meanwhile, it begins anew: the owner is not asked twice, since the context remembers.
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
                    // One that was edited is left out when it begins anew.
                    guard let value = try store.soundValue(of: item) else { return nil }
                    return .init(record, .plain(change.value ?? value))
                }
                return prepared[item].map { .init(record, $0) }
            } unless: { old throws(KeychainError) in
                try values.isDead(old)
            }
            // Somebody else has added or changed one; nothing is written before all of them are prepared.
            guard let count else { continue }
            guard count > 0 else { throw KeychainError(errSecItemNotFound) }
            return
        }
        throw KeychainError(errSecIO)
    }

    /// How often somebody else may be faster.
    private static let tries = 100

    /// The new values of items that the chip keeps, or shall keep, and the items that turned out to be dead or edited,
    /// which no change touches.
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
                // Nobody is asked: a change reads nothing of the private half, and cannot take off what guards its use.
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
    /// A record with what this dictionary changes.
    ///
    /// - Throws: `errSecParam` for an empty dictionary, and where the item would contradict itself; `errSecNoSuchAttr`.
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

    /// Whether nothing would be changed.
    var changesNothing: Bool {
        attributes.isEmpty && value == nil && accessGroup == nil && accessible == nil && accessControl == nil
            && synchronizable == nil
    }
}
