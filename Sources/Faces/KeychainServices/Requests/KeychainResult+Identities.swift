// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

/// Results for identities: the value is that of the key, the attributes are those of both halves.
extension KeychainResult {
    /// Returns the result for identities that were found, and asks the owner if protected values are requested.
    func outcome(of identities: [StoredIdentity]) throws(KeychainError) -> Outcome {
        var objects: [AnyObject] = []
        var dead: [Int64] = []
        for identity in identities {
            switch try object(for: identity) {
            case .known(let object): if let object { objects.append(object) }
            case .useless(let id): dead.append(id)
            }
        }
        return dead.isEmpty ? result(of: objects) : .dead(dead)
    }

    /// Returns the result for an identity that was just added, whose values need no authentication yet.
    func object(
        added stored: StoredIdentity,
        _ identity: SecIdentity,
        _ made: NewKeychainContents
    ) -> AnyObject? {
        var parts = parts(of: stored)
        if returns.contains(.reference) { parts["v_Ref"] = identity }
        if returns.contains(.data), case .plain(let value) = made { parts["v_Data"] = ItemData(value) }
        return whole(parts, KeychainResult.attributes(of: stored))
    }

    /// The outcome for one identity.
    private enum Found {
        case known(AnyObject?)
        /// A row that makes no identity: it can never be opened again, is damaged, or is no key for the certificate.
        case useless(Int64)
    }

    private func object(for identity: StoredIdentity) throws(KeychainError) -> Found {
        guard case .known(let value) = try value(of: identity.key) else { return .useless(identity.key.id) }
        var parts = parts(of: identity)
        if returns.contains(.data) {
            guard let value else { throw KeychainError(errSecDataNotAvailable) }
            parts["v_Data"] = ItemData(value)
        }
        if returns.contains(.reference) {
            guard case .known(let bytes?) = try self.value(of: identity.certificate),
                let certificate = SecCertificate(bytes)
            else { return .useless(identity.certificate.id) }
            guard let key = try key(of: identity.key, value), let object = SecIdentity(certificate, key)
            else {
                return .useless(identity.key.id)
            }
            parts["v_Ref"] = object
        }
        return .known(whole(parts, KeychainResult.attributes(of: identity)))
    }

    /// Returns the object of a stored key; `nil` for bytes that a program has stored as a key and that are none.
    private func key(of row: KeychainRow, _ value: Data?) throws(KeychainError) -> SecKey? {
        do {
            return try ItemReferences.object(for: row, value, boundContext) as? SecKey
        } catch  where error.status == errSecInvalidKeyRef {
            return nil
        }
    }

    private func parts(of identity: StoredIdentity) -> [String: AnyObject] {
        guard returns.contains(.persistentReference) else { return [:] }
        return ["v_PersistentRef": PersistentReference(identityOf: identity.certificate.id).data as NSData]
    }

    private static func attributes(of identity: StoredIdentity) -> [String: AnyObject] {
        var attributes = attributes(of: identity.key)
        for (name, value) in identity.certificate.record.attributes { attributes[name] = value.object }
        attributes["class"] = kSecClassIdentity
        return attributes
    }
}
