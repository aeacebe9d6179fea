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
    /// The object for a stored key or certificate, which was read with its value.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - value: Its value, where it is known already.
    ///   - context: What the owner is asked with when the object is used; `nil` for one of its own.
    ///   - store: Where the item lies.
    /// - Returns: A key or a certificate.
    /// - Throws: `errSecUnimplemented` where there is no such object, as for passwords.
    static func object(
        for item: KeychainItem,
        _ value: Data?,
        _ context: KeyContext?,
        _ store: KeychainStore
    ) throws(KeychainError) -> AnyObject {
        switch (item.record.itemClass, item.contents) {
        case (.key, .key(let sealed)): return try SecKey.stored(item.record, sealed, context)
        case (.key, .sealed), (.key, .secret):
            let bytes = if let value { value } else { try store.value(of: item) }
            return try SecKey.stored(item.record, bytes)
        case (.certificate, .sealed), (.certificate, .secret):
            let bytes = if let value { value } else { try store.value(of: item) }
            guard let certificate = SecCertificate(bytes) else { throw KeychainError(errSecInvalidRecord) }
            return certificate
        case (.certificate, .key): throw KeychainError(errSecInvalidRecord)
        case (.genericPassword, _), (.internetPassword, _): throw KeychainError(errSecUnimplemented)
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
}
