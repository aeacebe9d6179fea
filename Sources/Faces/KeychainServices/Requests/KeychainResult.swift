// SPDX-License-Identifier: Apache-2.0

internal import WhorlService

/// A type that creates the result of a call.
///
/// A single kind of result is returned directly, and several kinds in a dictionary. A single item is returned directly,
/// and several items in an array.
struct KeychainResult {
    let request: KeychainRequest
    let values: ProtectedValues

    /// The requested kinds of result.
    var returns: KeychainRequest.Returns { request.returns }
    /// The program's context, which the returned keys use.
    var boundContext: KeyContext? { request.boundContext }

    /// The outcome for the found items.
    enum Outcome {
        case object(AnyObject?)
        /// The numbers of items that can never be opened again or were tampered with. These items are left out.
        case dead([Int64])
    }

    /// The outcome of reading one item's value.
    enum Value {
        /// The value, or `nil` if it was not requested or belongs to a key in the TPM.
        case known(Data?)
        case dead
    }

    /// Returns the result for the found items, and prompts the owner if protected values are requested.
    func outcome(of items: [KeychainRow]) throws(KeychainError) -> Outcome {
        var objects: [AnyObject] = []
        var dead: [Int64] = []
        for item in items {
            switch try value(of: item) {
            case .known(let value): if let object = try object(for: item, value) { objects.append(object) }
            case .dead: dead.append(item.id)
            }
        }
        return dead.isEmpty ? result(of: objects) : .dead(dead)
    }

    /// Returns the objects of all items in the requested form.
    func result(of objects: [AnyObject]) -> Outcome {
        guard !request.returns.isEmpty else { return .object(nil) }
        return .object((request.limit ?? 1) == 1 ? objects.first : objects as NSArray)
    }

    /// Checks that the requested results can be returned, before a new item is stored.
    ///
    /// - Throws: `errSecDataNotAvailable` for the bytes of a key in the TPM, `errSecInvalidKeyRef` for bytes that are
    ///   not a key, and `errSecUnimplemented` for the object of a password.
    func check(_ record: KeychainRecord, _ made: NewKeychainContents) throws(KeychainError) {
        switch made {
        case .plain(let value):
            if request.returns.contains(.reference), record.itemClass == .key {
                _ = try SecKey.stored(record, value)
            }
        case .sealed:
            if request.returns.contains(.data) { throw KeychainError(errSecDataNotAvailable) }
        }
        if request.returns == .reference { try checkObject(of: record) }
    }

    /// Throws `errSecUnimplemented` for a password, which cannot be returned as an object.
    ///
    /// If other kinds of result are requested as well, the object is left out instead.
    private func checkObject(of record: KeychainRecord) throws(KeychainError) {
        switch record.itemClass {
        case .key, .certificate: break
        case .genericPassword, .internetPassword: throw KeychainError(errSecUnimplemented)
        }
    }

    /// Returns the result for an item that was just added.
    ///
    /// The value of a new item does not require authentication yet.
    func object(
        added item: KeychainRow,
        _ made: NewKeychainContents
    ) throws(KeychainError) -> AnyObject? {
        switch made {
        case .plain(let value): try object(for: item, value)
        case .sealed: try object(for: item, nil)
        }
    }

    /// Returns the result for one item.
    ///
    /// The value is `nil` if it is in the TPM or was not requested.
    private func object(for item: KeychainRow, _ value: Data?) throws(KeychainError) -> AnyObject? {
        var parts: [String: AnyObject] = [:]
        if returns.contains(.data) {
            guard let value else { throw KeychainError(errSecDataNotAvailable) }
            let bytes = ItemData(value)
            if returns == .data { return bytes }
            // As on Apple's systems, the dictionary does not contain a value that was never set.
            if item.record.hasValue { parts["v_Data"] = bytes }
        }
        if returns.contains(.persistentReference) {
            parts["v_PersistentRef"] = item.reference.data as NSData
        }
        if returns.contains(.reference) {
            switch item.record.itemClass {
            case .key, .certificate:
                parts["v_Ref"] = try ItemReferences.object(for: item, value, request.boundContext)
            case .genericPassword, .internetPassword:
                if returns == .reference { try checkObject(of: item.record) }
            }
        }
        return whole(parts, KeychainResult.attributes(of: item))
    }

    /// Combines the requested results of an item into one object.
    func whole(_ parts: [String: AnyObject], _ attributes: @autoclosure () -> [String: AnyObject])
        -> AnyObject?
    {
        if returns.contains(.attributes) {
            return parts.merging(attributes()) { own, _ in own } as NSDictionary
        }
        // The requested kinds determine the type, not the available ones, because programs cast the result to the
        // expected type.
        return returns.rawValue.nonzeroBitCount <= 1 ? parts.values.first : parts as NSDictionary
    }

    /// Returns the value if it is requested, and prompts the owner if it is protected.
    func value(of item: KeychainRow) throws(KeychainError) -> Value {
        guard request.needsValue(of: item.record.itemClass) else { return .known(nil) }
        switch item.contents {
        case .encrypted: return .known(nil)
        case .value(let value): return .known(value)
        case .damaged: return .dead
        case .sealed(let sealed):
            guard sealed.kind == .secret else { return .known(nil) }
            switch try values.open(sealed) {
            case .value(let value): return .known(value)
            case .dead: return .dead
            }
        }
    }

    /// Returns an item's attributes with the keys that queries use.
    static func attributes(of item: KeychainRow) -> [String: AnyObject] {
        let record = item.record
        var attributes = record.attributes.mapValues(\.object)
        attributes["class"] = record.itemClass.rawValue as NSString
        attributes["agrp"] = record.accessGroup as NSString
        attributes["pdmn"] = record.accessible as NSString
        attributes["accc"] = record.protection
        attributes["sync"] = NSNumber(value: record.isSynchronizable ? 1 : 0)
        return attributes
    }
}

/// Results for identities. The value is that of the key, and the attributes are those of the certificate and the key.
extension KeychainResult {
    /// Returns the result for the found identities, and prompts the owner if protected values are requested.
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

    /// Returns the result for an identity that was just added.
    ///
    /// The values of a new identity do not require authentication yet.
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
        /// A row that is not part of an identity: it can never be opened again, is damaged, or is not the certificate's
        /// key.
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

    /// Returns the object for a stored key, or `nil` if a program stored bytes that are not a key.
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
