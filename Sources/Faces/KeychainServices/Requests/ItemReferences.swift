// SPDX-License-Identifier: Apache-2.0

package import WhorlService

/// An object that stands for an item: a key, or a certificate (`kSecValueRef`, `kSecReturnRef`).
package protocol ItemReference: AnyObject {
    /// The class that the object is stored as.
    static var itemClass: KeychainClass { get }

    /// Returns the class, attributes and value with which the keychain stores and finds the object.
    ///
    /// - Throws: `errSecUnimplemented` for an object that cannot be stored.
    func form() throws(KeychainError) -> ReferenceForm
}

/// The data that the keychain stores for a key or a certificate.
package struct ReferenceForm: Sendable {
    /// The class of the item.
    package let itemClass: KeychainClass
    /// The attributes of the object itself; the program's dictionary adds to them.
    package let attributes: [String: AttributeValue]
    /// The access control, if it was fixed when the object was made.
    package let protection: SecAccessControl?
    /// The value.
    package let contents: NewKeychainContents

    /// Makes the form of an object.
    package init(
        _ itemClass: KeychainClass,
        attributes: [String: AttributeValue],
        protection: SecAccessControl? = nil,
        contents: NewKeychainContents
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.protection = protection
        self.contents = contents
    }
}

/// Makes objects from stored items, and forms from the bytes of objects.
enum ItemReferences {
    /// Returns the object for a stored key or certificate.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - value: The item's value; `nil` for a key in the chip.
    ///   - context: The context that authenticates the owner when the object is used; `nil` for a new one.
    /// - Returns: A key or a certificate.
    /// - Throws: `errSecUnimplemented` for items without objects, such as passwords; `errSecInvalidRecord`.
    static func object(
        for item: KeychainRow,
        _ value: Data?,
        _ context: KeyContext?
    ) throws(KeychainError) -> AnyObject {
        switch (item.record.itemClass, item.contents, value) {
        case (.key, .sealed(let sealed), _) where sealed.kind == .key:
            return try SecKey.stored(item.record, sealed, context)
        case (.key, _, let value?): return try SecKey.stored(item.record, value)
        case (.certificate, _, let value?):
            guard let certificate = SecCertificate(value) else { throw KeychainError(errSecInvalidRecord) }
            return certificate
        case (.key, _, nil), (.certificate, _, nil): throw KeychainError(errSecInvalidRecord)
        case (.genericPassword, _, _), (.internetPassword, _, _): throw KeychainError(errSecUnimplemented)
        }
    }

    /// Returns the form of a certificate or a key that is given as bytes (`kSecValueData`).
    ///
    /// - Returns: The form; `nil` if the bytes are stored unchanged, with only the attributes of the dictionary.
    static func form(
        of data: Data,
        _ itemClass: KeychainClass,
        _ attributes: [String: AttributeValue]
    ) throws(KeychainError) -> ReferenceForm? {
        guard itemClass == .certificate else { return nil }
        guard let certificate = SecCertificate(data) else { throw KeychainError(errSecDecode) }
        return try certificate.form()
    }

    /// Returns the attributes of a certificate or a key whose bytes are replaced; its label does not change.
    ///
    /// - Throws: The same errors as ``form(of:_:_:)``.
    static func changes(
        by data: Data,
        _ itemClass: KeychainClass,
        _ attributes: [String: AttributeValue]
    ) throws(KeychainError) -> [String: AttributeValue] {
        guard let form = try form(of: data, itemClass, attributes) else { return attributes }
        // Not every certificate has this attribute, and the previous certificate's must not remain.
        var changes = ["skid": AttributeValue.data(Data())].merging(form.attributes) { $1 }
        changes["labl"] = nil
        return changes.merging(attributes) { $1 }
    }
}
