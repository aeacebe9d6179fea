// SPDX-License-Identifier: Apache-2.0

/// An object that stands for an item: a key, or a certificate (`kSecValueRef`, `kSecReturnRef`).
package protocol ItemReference: AnyObject {
    /// What it is stored as.
    static var itemClass: ItemClass { get }

    /// What the keychain stores of it, and finds it by.
    ///
    /// - Throws: `errSecUnimplemented` for what cannot be stored.
    func form() throws(KeychainError) -> ReferenceForm
}

/// What the keychain stores of a key or a certificate.
package struct ReferenceForm: Sendable {
    /// Its class.
    package let itemClass: ItemClass
    /// What it brings along; the program's dictionary adds to it.
    package let attributes: [String: AttributeValue]
    /// What opens it, where that was fixed when it was made.
    package let protection: SecAccessControl?
    /// The value.
    package let contents: KeychainStore.NewContents

    /// Describes an object.
    package init(
        _ itemClass: ItemClass,
        attributes: [String: AttributeValue],
        protection: SecAccessControl? = nil,
        contents: KeychainStore.NewContents
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.protection = protection
        self.contents = contents
    }
}

/// Where objects of stored items come from.
enum ItemReferences {
    /// The object for a stored key or certificate.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - value: Its value; `nil` for a key of the chip.
    ///   - context: What the owner is asked with when the object is used; `nil` for one of its own.
    /// - Returns: A key or a certificate.
    /// - Throws: `errSecUnimplemented` where there is no such object, as for passwords; `errSecInvalidRecord`.
    static func object(
        for item: KeychainItem,
        _ value: Data?,
        _ context: KeyContext?
    ) throws(KeychainError) -> AnyObject {
        switch (item.record.itemClass, item.contents, value) {
        case (.key, .key(let sealed), _): return try SecKey.stored(item.record, sealed, context)
        case (.key, _, let value?): return try SecKey.stored(item.record, value)
        case (.certificate, _, let value?):
            guard let certificate = SecCertificate(value) else { throw KeychainError(errSecInvalidRecord) }
            return certificate
        case (.key, _, nil), (.certificate, _, nil): throw KeychainError(errSecInvalidRecord)
        case (.genericPassword, _, _), (.internetPassword, _, _): throw KeychainError(errSecUnimplemented)
        }
    }

    /// What is stored of a certificate or a key that is given as bytes (`kSecValueData`).
    ///
    /// - Returns: `nil` where the bytes are stored as they are, with the attributes of the dictionary alone.
    static func form(
        of data: Data,
        _ itemClass: ItemClass,
        _ attributes: [String: AttributeValue]
    ) throws(KeychainError) -> ReferenceForm? {
        guard itemClass == .certificate else { return nil }
        guard let certificate = SecCertificate(data) else { throw KeychainError(errSecDecode) }
        return try certificate.form()
    }

    /// What bytes that take the place of others say of a certificate or a key; its label stays.
    ///
    /// - Throws: as ``form(of:_:_:)``.
    static func changes(
        by data: Data,
        _ itemClass: ItemClass,
        _ attributes: [String: AttributeValue]
    ) throws(KeychainError) -> [String: AttributeValue] {
        guard let form = try form(of: data, itemClass, attributes) else { return attributes }
        // Not every certificate has this one, and the earlier one's must not stay.
        var changes = ["skid": AttributeValue.data(Data())].merging(form.attributes) { $1 }
        changes["labl"] = nil
        return changes.merging(attributes) { $1 }
    }
}
