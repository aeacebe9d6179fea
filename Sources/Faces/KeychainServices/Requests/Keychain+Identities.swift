// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import WhorlService

/// Operations on identities: certificates with their private keys. The certificate and the key are separate items.
extension Keychain {
    // MARK: - Find

    /// Finds identities, and prompts the owner if the values of their keys are requested and protected.
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

    /// Stores the certificate and the key of an identity.
    ///
    /// One of the two items may already exist.
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

    /// Returns filters for the rows to delete if a query matches identities.
    ///
    /// These are the certificates, up to the limit, and those of their keys that do not belong to any other
    /// certificate.
    func deletions(ofIdentities request: KeychainRequest) throws(KeychainError) -> [KeychainMatch] {
        let search = try IdentitySearch(request, store)
        let limit = request.limit ?? .max
        var certificates = inOrder(try store.items(search.certificates, withValues: false))
        var keys: [KeychainRow] = []
        if request.identity != nil {
            // The object contains both halves, even if the other one no longer exists.
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

    /// Returns a filter for a single row.
    private func only(_ row: KeychainRow) -> KeychainMatch {
        var match = KeychainMatch(row.record.itemClass, groups: [row.record.accessGroup])
        match.id = row.id
        match.isSynchronizable = nil
        return match
    }
}

extension KeychainRequest {
    /// The dictionaries for the two items of an identity, and a dictionary that finds them again.
    fileprivate struct Halves {
        var certificate: KeychainRequest
        var key: KeychainRequest
        var stored: KeychainRequest
    }

    /// Returns the dictionaries for the two items of an identity.
    ///
    /// Each dictionary contains the attributes of its class. The access control belongs to the key.
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

/// A stored identity: the rows of a certificate and its private key.
struct StoredIdentity {
    let certificate: KeychainRow
    let key: KeychainRow
}

/// The certificates and keys that a query for identities matches.
///
/// As on Apple's systems, attributes that certificates have are compared with the certificate, and all others with the
/// key. A certificate and a key form a pair if the key's application label is the hash of the certified key.
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
        // A query for public keys matches nothing.
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

    /// Returns a filter for the keys that may belong to a certificate, or `nil` if there cannot be any.
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
    /// Whether the application label of a private key may be the key's hash.
    ///
    /// Programs can store any bytes with any label. The hash is checked only if this does not require prompting the
    /// owner.
    var mayBeWhatItSays: Bool {
        let material: KeyMaterial?
        switch contents {
        case .value(let bytes):
            // Bytes that are not a key have no key hash.
            material = (try? SecKey.stored(record, bytes))?.material
        case .sealed(let item) where item.kind == .key: material = KeyMaterial(sealed: item)
        case .sealed, .damaged, .encrypted: return true
        }
        guard let material else { return false }
        return record.attributes["klbl"] == .data(Data(Insecure.SHA1.hash(data: material.publicBytes)))
    }
}
