// SPDX-License-Identifier: Apache-2.0

internal import Crypto
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
        let result = KeychainResult(request: request, values: values)
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
            return KeychainResult(request: request, values: values).object(added: stored, identity, made)
        }
        throw KeychainError(errSecDuplicateItem)
    }

    // MARK: - Delete

    /// Returns the rows to delete for a query of identities: the certificates, at most as many as the limit, and those
    /// of their keys that no other certificate is for.
    func deletions(ofIdentities request: KeychainRequest) throws(KeychainError) -> [KeychainMatch] {
        let search = try IdentitySearch(request, store)
        let limit = request.limit ?? .max
        var certificates = inOrder(try store.items(search.certificates, withValues: false))
        var keys: [KeychainRow] = []
        if request.identity != nil {
            // The object names both halves, also where the other one is gone.
            keys = try store.items(search.keys, withValues: true).filter(\.mayBeWhatItSays)
        } else {
            var paired: [KeychainRow] = []
            for certificate in certificates where paired.count < limit {
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

/// An identity as the keychain has it: the rows of its certificate and of the private key for it.
struct StoredIdentity {
    let certificate: KeychainRow
    let key: KeychainRow
}

/// The certificates and the keys whose pairs a query for identities selects.
///
/// An attribute that certificates have is compared with the certificate, any other one with the key, as on Apple's
/// systems. A pair belongs together if the key's application label is the hash of the certified key.
struct IdentitySearch {
    var certificates: KeychainMatch
    var keys: KeychainMatch

    /// - Throws: `errSecMissingEntitlement` for a group that the program may not use.
    init(_ request: KeychainRequest, _ store: KeychainStore) throws(KeychainError) {
        let groups = try request.accessGroup.map { name throws(KeychainError) in [try store.group(name)] }
        certificates = KeychainMatch(.certificate, groups: groups ?? store.groups)
        keys = KeychainMatch(.key, groups: groups ?? store.groups)
        for (name, value) in request.attributes {
            if KeychainClass.certificate.forms[name] != nil {
                certificates.attributes[name] = value
            } else {
                keys.attributes[name] = value
            }
        }
        // A query for public keys selects none.
        keys.attributes["kcls"] = keys.attributes["kcls"] ?? IdentitySearch.privateClass
        if let identity = request.identity {
            let form = try identity.certificate.form()
            for name in KeychainClass.certificate.identifying {
                certificates.attributes[name] = form.attributes[name] ?? certificates.attributes[name]
            }
            certificates.attributes["pkhh"] = form.attributes["pkhh"]
            keys.attributes["klbl"] = form.attributes["pkhh"]
            keys.attributes["kcls"] = IdentitySearch.privateClass
        }
        keys.accessible = request.accessible
        certificates.id = request.persistentReference?.id
        let isSynchronizable: Bool? =
            switch request.synchronizable {
            case .yes: true
            case .no: false
            case .any: nil
            case nil: certificates.id == nil ? false : nil
            }
        certificates.isSynchronizable = isSynchronizable
        keys.isSynchronizable = isSynchronizable
        if request.interface == .skip {
            certificates.leaveOutProtected()
            keys.leaveOutProtected()
        }
    }

    private static let privateClass = AttributeValue.text(String(describing: kSecAttrKeyClassPrivate))

    /// Returns the keys that may belong to a certificate; `nil` if none can.
    func keys(for certificate: KeychainRow) -> KeychainMatch? {
        guard let hash = certificate.record.attributes["pkhh"], case .data(let bytes) = hash, !bytes.isEmpty,
            keys.attributes["klbl"] == nil || keys.attributes["klbl"] == hash,
            keys.attributes["kcls"] == IdentitySearch.privateClass
        else { return nil }
        var match = keys
        match.attributes["klbl"] = hash
        return match
    }
}

extension KeychainRow {
    /// Whether a private key is the one whose hash is its application label, as far as that is known without asking its
    /// owner: a program may store any bytes with any label.
    var mayBeWhatItSays: Bool {
        let material: KeyMaterial?
        switch contents {
        case .value(let bytes):
            // Bytes that are no key have no hash of one.
            material = (try? SecKey.stored(record, bytes))?.material
        case .sealed(let item) where item.kind == .key: material = KeyMaterial(sealed: item)
        case .sealed, .damaged, .encrypted: return true
        }
        guard let material else { return false }
        return record.attributes["klbl"] == .data(Data(Insecure.SHA1.hash(data: material.publicBytes)))
    }
}
