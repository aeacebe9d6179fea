// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

/// Identities: certificates with the private keys for them, each of which is an item of its own.
extension Keychain {
    // MARK: - Find

    /// Finds identities, and asks the owner if the values of their keys are requested and protected.
    func copyIdentities(
        _ request: KeychainRequest,
        _ values: ProtectedValues
    ) throws(KeychainError) -> AnyObject? {
        var search = try IdentitySearch(request, store)
        let result = KeychainResult(request, values)
        while true {
            let found = try identities(&search, request, values)
            guard !found.isEmpty else { throw KeychainError(errSecItemNotFound) }
            switch try result.outcome(of: found) {
            case .object(let object): return object
            case .dead(let ids):
                search.certificates.leftOut.formUnion(ids)
                search.keys.leftOut.formUnion(ids)
            }
        }
    }

    private func identities(
        _ search: inout IdentitySearch,
        _ request: KeychainRequest,
        _ values: ProtectedValues
    ) throws(KeychainError) -> [StoredIdentity] {
        let limit = request.limit ?? 1
        let certificates =
            if request.certificates.isEmpty {
                inOrder(
                    try living(
                        &search.certificates,
                        values,
                        withValues: request.needsValue(of: .certificate)
                    )
                )
            } else {
                try certificates(&search.certificates, request.certificates, values, limit: .max)
            }
        var found: [StoredIdentity] = []
        for certificate in certificates where found.count < limit {
            guard var match = search.keys(for: certificate) else { continue }
            let keys = inOrder(try living(&match, values, withValues: true)).filter(\.mayBeWhatItSays)
            search.keys.leftOut.formUnion(match.leftOut)
            found += keys.prefix(limit - found.count).map {
                StoredIdentity(certificate: certificate, key: $0)
            }
        }
        return found
    }

    // MARK: - Add

    /// Stores the certificate and the key of an identity; one of them may be there already.
    func add(
        _ identity: SecIdentity,
        _ request: KeychainRequest,
        _ values: ProtectedValues
    ) throws(KeychainError) -> AnyObject? {
        let halves = try request.halves(identity)
        let certificate = try new(halves.certificate, values).row
        let (key, made) = try new(halves.key, values)
        for rows in [[certificate, key], [key], [certificate]] {
            do {
                _ = try store.add(rows) { old throws(KeychainError) in try values.isDead(old) }
            } catch  where error.status == errSecDuplicateItem {
                continue
            }
            guard !request.returns.isEmpty else { return nil }
            var search = try IdentitySearch(halves.stored, store)
            guard let stored = try identities(&search, halves.stored, values).first else {
                throw KeychainError(errSecInternalComponent)
            }
            return KeychainResult(request, values).object(added: stored, identity, made)
        }
        throw KeychainError(errSecDuplicateItem)
    }

    // MARK: - Delete

    /// Returns the rows to delete for a query of identities: the certificates, and those of their keys that no other
    /// certificate is for.
    func deletions(ofIdentities request: KeychainRequest) throws(KeychainError) -> [KeychainMatch] {
        let search = try IdentitySearch(request, store)
        var certificates = try store.items(search.certificates, withValues: false)
        var keys: [KeychainRow] = []
        if request.identity != nil {
            // The object names both halves, also where the other one is gone.
            keys = try store.items(search.keys, withValues: true).filter(\.mayBeWhatItSays)
        } else {
            var paired: [KeychainRow] = []
            for certificate in certificates {
                guard let match = search.keys(for: certificate) else { continue }
                let own = try store.items(match, withValues: true).filter(\.mayBeWhatItSays)
                if !own.isEmpty { paired.append(certificate) }
                keys += own
            }
            certificates = paired
        }
        let deleted = Set(certificates.map(\.id))
        var matches = certificates.map { only($0) }
        for key in keys where try !isUsed(key, without: deleted) { matches.append(only(key)) }
        return matches
    }

    private func isUsed(_ key: KeychainRow, without deleted: Set<Int64>) throws(KeychainError) -> Bool {
        var match = KeychainMatch(.certificate, groups: store.groups)
        match.attributes["pkhh"] = key.record.attributes["klbl"]
        match.isSynchronizable = nil
        match.leftOut = deleted
        return try !store.items(match, withValues: false, limit: 1).isEmpty
    }

    /// Returns a filter for one row.
    private func only(_ row: KeychainRow) -> KeychainMatch {
        var match = KeychainMatch(row.record.itemClass, groups: [row.record.accessGroup])
        match.id = row.id
        match.isSynchronizable = nil
        return match
    }
}

extension KeychainRequest {
    /// The dictionaries of an identity's two items, and one that finds them again.
    fileprivate struct Halves {
        var certificate: KeychainRequest
        var key: KeychainRequest
        var stored: KeychainRequest
    }

    /// Returns the dictionaries for the halves of an identity: each has the attributes of its class, and the access
    /// control is the key's.
    fileprivate func halves(_ identity: SecIdentity) throws(KeychainError) -> Halves {
        var halves = Halves(certificate: self, key: self, stored: self)
        halves.certificate.become(.certificate, identity.certificate, returns: [])
        halves.key.become(.key, identity.key, returns: returns.intersection(.data))
        halves.certificate.accessControl = nil
        if let accessControl { halves.certificate.accessible = accessControl.protection }
        halves.stored.attributes = [:]
        halves.stored.accessible = nil
        halves.stored.synchronizable = .any
        halves.stored.returns = []
        return halves
    }

    private mutating func become(
        _ itemClass: KeychainClass,
        _ object: any ItemReference,
        returns: Returns
    ) {
        self.itemClass = .stored(itemClass)
        attributes = attributes.filter { itemClass.forms[$0.key] != nil }
        reference = object
        identity = nil
        self.returns = returns
    }
}
