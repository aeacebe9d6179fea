// SPDX-License-Identifier: Apache-2.0

internal import WhorlContext
package import WhorlService

/// A parsed and validated keychain dictionary.
struct KeychainRequest {
    /// The purpose of a dictionary, which determines the permitted keys.
    enum Purpose: Sendable, CaseIterable {
        case add
        case copy
        case delete
        /// The first dictionary of `SecItemUpdate`.
        case select
        /// The second dictionary of `SecItemUpdate`.
        case change
    }

    /// The meaning of a value of `kSecClass`.
    enum Class: Hashable {
        case stored(KeychainClass)
        /// A certificate with its private key, stored as two items.
        case identity
    }

    /// A filter for items that may leave the device, items that may not, or both.
    enum Synchronizable: Hashable {
        case yes
        case no
        case any
    }

    /// Whether a call may show a prompt.
    enum Interface: Hashable {
        case allow
        case fail
        case skip
    }

    /// The results that a call returns.
    struct Returns: OptionSet, Hashable {
        let rawValue: Int
        static let data = Returns(rawValue: 1)
        static let attributes = Returns(rawValue: 2)
        static let reference = Returns(rawValue: 4)
        static let persistentReference = Returns(rawValue: 8)
    }

    var itemClass: Class?
    var attributes: [String: AttributeValue] = [:]
    var accessGroup: String?
    var accessible: String?
    var accessControl: SecAccessControl?
    var synchronizable: Synchronizable?
    var value: Data?
    var reference: (any ItemReference)?
    /// The identity under `kSecValueRef`, which consists of two items.
    var identity: SecIdentity?
    var persistentReference: PersistentReference?
    var returns: Returns = []
    /// The maximum number of items: `nil` if it is not set, or `Int.max` for all items.
    var limit: Int?
    /// Whether the query requests the data protection keychain.
    var requestsDataProtection = false
    /// The filter for certificates by their contents (`kSecMatch…`).
    var certificates = CertificateFilter()
    var boundContext: KeyContext?
    /// The state of the program's context.
    var context: ContextCore? { boundContext?.core }
    var interface: Interface = .allow
    var prompt: String?

    /// The maximum size of a value in bytes: 16 MiB.
    static let longestValue = 16 << 20

    /// The access control of an item that is added with this dictionary.
    var protection: SecAccessControl {
        accessControl ?? SecAccessControl(protection: accessible ?? "ak", flags: [])
    }
}

/// A permanent reference to one row: its class as four characters, followed by its number in 8 bytes.
package struct PersistentReference: Sendable, Hashable {
    /// The row's class.
    package let itemClass: KeychainClass
    /// The row's number.
    package let id: Int64
    /// Whether the reference identifies an identity.
    ///
    /// In this case, the row is that of the certificate.
    package let namesIdentity: Bool

    package init(_ itemClass: KeychainClass, _ id: Int64) {
        self.itemClass = itemClass
        self.id = id
        namesIdentity = false
    }

    /// Creates the reference to an identity.
    ///
    /// As on Apple's systems, the reference contains the number of the certificate.
    package init(identityOf certificate: Int64) {
        itemClass = .certificate
        id = certificate
        namesIdentity = true
    }

    /// Parses a reference, or returns `nil` for bytes that are not a reference.
    package init?(_ data: Data) {
        let bytes = Data(data)
        guard bytes.count == 12, let text = String(validating: bytes.prefix(4), as: UTF8.self) else {
            return nil
        }
        let number = Int64(bitPattern: bytes.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        if text == PersistentReference.identity {
            self.init(identityOf: number)
        } else if let itemClass = KeychainClass(rawValue: text) {
            self.init(itemClass, number)
        } else {
            return nil
        }
    }

    /// The reference as bytes, for the program to store.
    package var data: Data {
        Data((namesIdentity ? PersistentReference.identity : itemClass.rawValue).utf8)
            + withUnsafeBytes(of: UInt64(bitPattern: id).bigEndian) { Data($0) }
    }

    private static let identity = "idnt"
}

/// Methods that check a dictionary for contradictions.
extension KeychainRequest {
    /// - Throws: `errSecParam` for a contradiction; `errSecNoSuchClass` if a persistent reference is of another class,
    ///   as on Apple's systems.
    func check(_ purpose: Purpose) throws(KeychainError) {
        if let accessControl, let accessible, accessControl.protection != accessible {
            throw KeychainError(errSecParam)
        }
        if purpose == .add || purpose == .change { try checkSynchronizing() }
        guard purpose != .change else { return }
        guard itemClass != nil else { throw KeychainError(errSecParam) }
        if let reference, itemClass != .stored(type(of: reference).itemClass) {
            throw KeychainError(errSecParam)
        }
        if identity != nil, itemClass != .identity { throw KeychainError(errSecParam) }
        // These filters apply only to certificates.
        if !certificates.isEmpty, itemClass != .identity, itemClass != .stored(.certificate) {
            throw KeychainError(errSecParam)
        }
        try checkPersistentReference()
        try checkLimit(purpose)
    }

    /// Checks that the kind of keychain supports the limit.
    ///
    /// As on macOS, the data protection keychain always deletes and changes all items that match the query. The other
    /// kind of keychain respects the limit.
    private func checkLimit(_ purpose: Purpose) throws(KeychainError) {
        guard requestsDataProtection, let limit else { return }
        switch purpose {
        case .delete where limit == .max, .copy, .add, .change: break
        case .delete, .select: throw KeychainError(errSecParam)
        }
    }

    /// Checks that a persistent reference, which identifies one item, is not combined with attributes.
    private func checkPersistentReference() throws(KeychainError) {
        guard let persistentReference else { return }
        guard itemClass == persistentReference.requestClass else {
            throw KeychainError(errSecNoSuchClass)
        }
        let narrows = synchronizable == .yes || synchronizable == .no
        guard attributes.isEmpty, accessGroup == nil, accessible == nil, reference == nil, identity == nil,
            !narrows
        else {
            throw KeychainError(errSecParam)
        }
    }

    private func checkSynchronizing() throws(KeychainError) {
        guard synchronizable != .yes || accessControl?.isConstrained != true else {
            throw KeychainError(errSecParam)
        }
    }
}

extension PersistentReference {
    /// The class of the referenced item.
    var requestClass: KeychainRequest.Class { namesIdentity ? .identity : .stored(itemClass) }
}

extension KeychainRecord {
    /// Whether the item could leave the device.
    ///
    /// It could not leave the device if it requires authentication or is in the TPM.
    ///
    /// As on Apple's systems, "this device only" does not affect the result. Items never actually leave this machine.
    var maySynchronize: Bool { !protection.isConstrained && attributes["tkid"] == nil }
}
