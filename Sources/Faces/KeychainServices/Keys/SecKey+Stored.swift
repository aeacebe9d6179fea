// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
internal import WhorlSecretMemory
package import WhorlService

extension SecKey: ItemReference {
    /// The item class of keys.
    package static let itemClass = KeychainClass.key

    /// Returns the form in which the keychain stores the key.
    ///
    /// A key in the TPM is stored as its sealed item, and any other key as bytes. The store encrypts the bytes or, if
    /// an access control requires authentication, the TPM seals them.
    package func form() throws(KeychainError) -> ReferenceForm {
        var described = described
        described[String(describing: kSecAttrIsPermanent)] = true
        switch material {
        case .enclave(let item, _):
            return ReferenceForm(
                .key,
                attributes: try KeychainClass.key.attributes(described),
                protection: attributes.accessControl ?? .unguarded,
                contents: .sealed(item)
            )
        case .publicEC, .publicRSA:
            return ReferenceForm(
                .key,
                attributes: try KeychainClass.key.attributes(described),
                contents: .plain(material.publicBytes)
            )
        case .privateEC, .privateRSA:
            // The store takes values as ordinary bytes, which this module can no longer wipe.
            let bytes = material.privateBytes?.bytes.withUnsafeBytes { Data($0) } ?? Data()
            return ReferenceForm(
                .key,
                attributes: try KeychainClass.key.attributes(described),
                protection: attributes.accessControl,
                contents: .plain(bytes)
            )
        }
    }

    /// Stores permanent keys in the keychain, either all of them or none.
    ///
    /// - Parameter keys: Each key, with the keychain attributes that determine its access group and protection.
    /// - Throws: An error with the status of the failure.
    static func store(_ keys: [(key: SecKey, place: [String: Any])]) throws(NSError) {
        let items = keys.map { key, place in
            place.merging([String(describing: kSecValueRef): key]) { $1 } as NSDictionary
        }
        let status = SecItemBatch.add(items)
        guard status == errSecSuccess else { throw .status(status, "the key was not stored") }
    }

    /// Returns a stored key that is in the TPM.
    static func stored(
        _ record: KeychainRecord,
        _ item: SealedItem,
        _ context: KeyContext?
    ) throws(KeychainError) -> SecKey {
        guard let material = KeyMaterial(sealed: item) else { throw KeychainError(errSecInvalidRecord) }
        return SecKey(material, KeyAttributes(record), context: context)
    }

    /// Returns a stored key whose bytes are in this process.
    ///
    /// - Throws: `errSecInvalidKeyRef` if a program stored bytes that this module cannot read as a key.
    static func stored(_ record: KeychainRecord, _ bytes: Data) throws(KeychainError) -> SecKey {
        let isRSA = record.code(kSecAttrKeyType) == String(describing: kSecAttrKeyTypeRSA)
        let isPrivate = record.code(kSecAttrKeyClass) == String(describing: kSecAttrKeyClassPrivate)
        guard let material = KeyMaterial(bytes, isRSA: isRSA, isPrivate: isPrivate) else {
            throw KeychainError(errSecInvalidKeyRef)
        }
        return SecKey(material, KeyAttributes(record))
    }
}

extension KeyAttributes {
    fileprivate init(_ record: KeychainRecord) {
        label = record.bytes(kSecAttrLabel).flatMap { String(validating: $0, as: UTF8.self) }
        applicationTag = record.bytes(kSecAttrApplicationTag)
        applicationLabel = record.bytes(kSecAttrApplicationLabel)
        accessControl = record.protection
        isPermanent = true
    }
}

extension KeychainRecord {
    fileprivate func code(_ key: CFString) -> String? {
        guard case .text(let text)? = attributes[String(describing: key)] else { return nil }
        return text
    }

    /// Returns the bytes of an attribute that is a string or data.
    fileprivate func bytes(_ key: CFString) -> Data? {
        switch attributes[String(describing: key)] {
        case .text(let text): Data(text.utf8)
        case .data(let data): data
        case .number, .date, nil: nil
        }
    }
}

extension KeychainClass {
    /// Returns the described attributes that items of the class can have.
    func attributes(_ described: [String: Any]) throws(KeychainError) -> [String: AttributeValue] {
        var attributes: [String: AttributeValue] = [:]
        for (name, value) in described {
            guard let form = forms[name] else { continue }
            attributes[name] = try form.value(value)
        }
        return attributes
    }
}
