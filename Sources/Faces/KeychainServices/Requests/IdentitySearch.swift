// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import WhorlService

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
