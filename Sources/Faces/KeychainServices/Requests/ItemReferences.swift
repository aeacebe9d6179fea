// SPDX-License-Identifier: Apache-2.0

package import WhorlService

/// An object that represents an item, which is a key or a certificate (`kSecValueRef`, `kSecReturnRef`).
package protocol ItemReference: AnyObject {
    /// The item class that stores the object.
    static var itemClass: KeychainClass { get }

    /// Returns the class, attributes and value that the keychain uses to store and find the object.
    ///
    /// - Throws: `errSecUnimplemented` for an object that cannot be stored.
    func form() throws(KeychainError) -> ReferenceForm
}

/// The data that the keychain stores for a key or a certificate.
package struct ReferenceForm: Sendable {
    /// The class of the item.
    package let itemClass: KeychainClass
    /// The attributes of the object.
    ///
    /// The attributes in the program's dictionary are added to these.
    package let attributes: [String: AttributeValue]
    /// The access control, if it was set when the object was created.
    package let protection: SecAccessControl?
    /// The value.
    package let contents: NewKeychainContents

    /// Creates a form.
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

/// Functions that convert stored items to objects, and the bytes of objects to forms.
enum ItemReferences {
    /// Returns the object for a stored key or certificate.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - value: The item's value, or `nil` for a key in the TPM.
    ///   - context: The context that authenticates the owner when the object is used, or `nil` to use a new context.
    /// - Returns: A key or a certificate.
    /// - Throws: `errSecUnimplemented` for items that cannot be objects, such as passwords; `errSecInvalidRecord` for a
    ///   damaged item.
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

    /// Returns the form of a certificate or a key passed as bytes (`kSecValueData`).
    ///
    /// - Returns: The form, or `nil` if the bytes are stored unchanged, with only the attributes of the dictionary.
    static func form(
        of data: Data,
        _ itemClass: KeychainClass,
        _ attributes: [String: AttributeValue]
    ) throws(KeychainError) -> ReferenceForm? {
        guard itemClass == .certificate else { return nil }
        guard let certificate = SecCertificate(data) else { throw KeychainError(errSecDecode) }
        return try certificate.form()
    }

    /// Returns the changed attributes of a certificate or a key whose bytes are replaced.
    ///
    /// The label of the item does not change.
    ///
    /// - Throws: The same errors as ``form(of:_:_:)``.
    static func changes(
        by data: Data,
        _ itemClass: KeychainClass,
        _ attributes: [String: AttributeValue]
    ) throws(KeychainError) -> [String: AttributeValue] {
        guard let form = try form(of: data, itemClass, attributes) else { return attributes }
        // Not every certificate has this attribute, and the value of the previous certificate must not remain.
        var changes = ["skid": AttributeValue.data(Data())].merging(form.attributes) { $1 }
        changes["labl"] = nil
        return changes.merging(attributes) { $1 }
    }
}
