// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import AuthenticationContext
internal import SecretMemory
internal import Vault

extension SecKey: ItemReference {
    /// A key.
    package static let itemClass = ItemClass.key

    /// What the keychain stores: of a key in the chip its sealed item, of any other its bytes, which the store encrypts, or
    /// the chip seals where an access control asks for something.
    package func form() throws(KeychainError) -> ReferenceForm {
        var described = described
        described[String(describing: kSecAttrIsPermanent)] = true
        switch material {
        case .enclave(let item, _):
            return ReferenceForm(
                .key,
                attributes: try ItemClass.key.attributes(described),
                protection: attributes.accessControl ?? .unguarded,
                contents: .sealed(.key(item))
            )
        case .publicEC, .publicRSA:
            return ReferenceForm(
                .key,
                attributes: try ItemClass.key.attributes(described),
                contents: .plain(material.publicBytes)
            )
        case .privateEC, .privateRSA:
            // The store takes values as ordinary bytes; there they are no longer ours to wipe.
            let bytes = material.privateBytes?.bytes.withUnsafeBytes { Data($0) } ?? Data()
            return ReferenceForm(
                .key,
                attributes: try ItemClass.key.attributes(described),
                protection: attributes.accessControl,
                contents: .plain(bytes)
            )
        }
    }

    /// Puts a key that was made as a permanent one into the keychain.
    ///
    /// - Parameter place: What says where, and for how long.
    /// - Throws: a status.
    func store(at place: [String: Any]) throws(KeyFailure) {
        var item = place
        item[String(describing: kSecValueRef)] = self
        let status = SecItemAdd(item as NSDictionary, nil)
        guard status == errSecSuccess else { throw .status(status, "the key was not stored") }
    }

    /// A stored key of the chip.
    static func stored(
        _ record: ItemRecord,
        _ item: SealedItem,
        _ context: KeyContext?
    ) throws(KeychainError) -> SecKey {
        guard let material = KeyMaterial(sealed: item) else { throw KeychainError(errSecInvalidRecord) }
        return SecKey(material, KeyAttributes(record), context: context)
    }

    /// A stored key of this process.
    ///
    /// - Throws: `errSecInvalidKeyRef` for bytes that a program has stored as a key and that are none of this module's.
    static func stored(_ record: ItemRecord, _ bytes: Data) throws(KeychainError) -> SecKey {
        let isRSA = record.code(kSecAttrKeyType) == String(describing: kSecAttrKeyTypeRSA)
        let isPrivate = record.code(kSecAttrKeyClass) == String(describing: kSecAttrKeyClassPrivate)
        guard let material = KeyMaterial(bytes, isRSA: isRSA, isPrivate: isPrivate) else {
            throw KeychainError(errSecInvalidKeyRef)
        }
        return SecKey(material, KeyAttributes(record))
    }
}

extension KeyAttributes {
    fileprivate init(_ record: ItemRecord) {
        label = record.bytes(kSecAttrLabel).flatMap { String(validating: $0, as: UTF8.self) }
        applicationTag = record.bytes(kSecAttrApplicationTag)
        applicationLabel = record.bytes(kSecAttrApplicationLabel)
        accessControl = record.protection
        isPermanent = true
    }
}

extension ItemRecord {
    fileprivate func code(_ key: CFString) -> String? {
        guard case .text(let text)? = attributes[String(describing: key)] else { return nil }
        return text
    }

    /// A text or bytes, as bytes.
    fileprivate func bytes(_ key: CFString) -> Data? {
        switch attributes[String(describing: key)] {
        case .text(let text): Data(text.utf8)
        case .data(let data): data
        case .number, .date, nil: nil
        }
    }
}

extension ItemClass {
    /// Those attributes that items of the class have.
    func attributes(_ described: [String: Any]) throws(KeychainError) -> [String: AttributeValue] {
        var attributes: [String: AttributeValue] = [:]
        for (name, value) in described {
            guard let form = forms[name] else { continue }
            attributes[name] = try form.value(value)
        }
        return attributes
    }
}
