// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A class of keychain items.
public enum KeychainClass: String, Sendable, Hashable, CaseIterable, Codable {
    /// Passwords of any kind (`kSecClassGenericPassword`).
    case genericPassword = "genp"
    /// Passwords of servers (`kSecClassInternetPassword`).
    case internetPassword = "inet"
    /// Keys (`kSecClassKey`).
    case key = "keys"
    /// Certificates (`kSecClassCertificate`).
    case certificate = "cert"

    /// The attributes that distinguish two items of a group (Apple's primary keys).
    package var identifying: [String] {
        let own =
            switch self {
            case .genericPassword: ["acct", "svce"]
            case .internetPassword: ["acct", "sdmn", "srvr", "ptcl", "atyp", "port", "path"]
            case .key: ["kcls", "klbl", "crtr", "type", "bsiz", "esiz", "sdat", "edat", "atag"]
            case .certificate: ["ctyp", "issr", "slnr"]
            }
        return own + ["vwht"]
    }
}

/// The class, attributes and protection of a keychain item: everything except the value.
public struct KeychainRecord: Sendable, Hashable, Codable {
    /// The class of the item.
    public let itemClass: KeychainClass
    /// The access group; its programs may use the item.
    public var accessGroup: String
    /// The condition under which the item can be unlocked: a `kSecAttrAccessible…` value.
    public var accessible: String
    /// The authentication that the item requires, as the flags of Apple's access control.
    public var flags: UInt64
    /// Whether the item may leave the device.
    public var isSynchronizable: Bool
    /// Whether a value was ever set; if `false`, the item's value is empty and dictionaries omit its key.
    public var hasValue: Bool
    /// All other attributes.
    public var attributes: [String: AttributeValue]

    /// Creates a record.
    public init(
        _ itemClass: KeychainClass,
        accessGroup: String,
        accessible: String,
        flags: UInt64,
        isSynchronizable: Bool,
        hasValue: Bool = true,
        attributes: [String: AttributeValue]
    ) {
        self.itemClass = itemClass
        self.accessGroup = accessGroup
        self.accessible = accessible
        self.flags = flags
        self.isSynchronizable = isSynchronizable
        self.hasValue = hasValue
        self.attributes = attributes
    }
}

extension KeychainRecord {
    /// The maximum size of a record's names and values, 128 KiB.
    ///
    /// A record of this size fits into a message even in JSON, where one byte may take up six.
    package static let mostBytes = 128 << 10

    /// The size of the record's names and values in bytes.
    package var size: Int {
        attributes.reduce(accessGroup.utf8.count + accessible.utf8.count) {
            $0 + $1.key.utf8.count + $1.value.size
        }
    }
}

/// A keychain row as it was read, with a verified authentication code.
public struct KeychainRow: Sendable, Hashable {
    /// The version of the row that was read.
    public let version: KeychainRowVersion
    /// The class, attributes and protection of the item.
    public let record: KeychainRecord
    /// The value.
    public let contents: KeychainContents

    /// The row's number, which never changes.
    public var id: Int64 { version.id }

    /// Creates a row.
    public init(_ version: KeychainRowVersion, _ record: KeychainRecord, _ contents: KeychainContents) {
        self.version = version
        self.record = record
        self.contents = contents
    }
}

/// A version of a row; each change to the row gives it a new revision.
public struct KeychainRowVersion: Sendable, Hashable, Codable {
    /// The row's number, which never changes.
    public let id: Int64
    /// The authentication code of the row's current contents.
    public let revision: Data

    /// Creates a version.
    public init(id: Int64, revision: Data) {
        self.id = id
        self.revision = revision
    }
}

/// The value of a row as it was read.
public enum KeychainContents: Sendable, Hashable {
    /// An encrypted value that was not requested.
    case encrypted
    /// A value that the service has decrypted.
    case value(Data)
    /// A value that was tampered with and cannot be decrypted.
    case damaged
    /// A secret or a key that only the TPM can unlock.
    case sealed(SealedItem)

    /// The item that the TPM sealed; `nil` for a value that the service encrypts.
    package var item: SealedItem? {
        guard case .sealed(let item) = self else { return nil }
        return item
    }
}

/// A value to store in a row.
public enum NewKeychainContents: Sendable, Hashable {
    /// A value that the service encrypts.
    case plain(Data)
    /// A secret or a key that the TPM has already sealed.
    case sealed(SealedItem)
}

/// An item to store in a row.
public struct NewKeychainRow: Sendable, Hashable {
    /// The class, attributes and protection of the item.
    public var record: KeychainRecord
    /// The value.
    public var contents: NewKeychainContents

    /// Creates an item to store.
    public init(_ record: KeychainRecord, _ contents: NewKeychainContents) {
        self.record = record
        self.contents = contents
    }
}

/// A new record and value for a row.
public struct KeychainRowChange: Sendable, Hashable {
    /// The version of the row that the change applies to.
    public var version: KeychainRowVersion
    /// The new record and value.
    public var new: NewKeychainRow

    /// Creates a change.
    public init(_ version: KeychainRowVersion, to new: NewKeychainRow) {
        self.version = version
        self.new = new
    }
}

/// The outcome of a change to keychain rows; either all rows were stored, or nothing was changed.
public enum KeychainOutcome: Sendable, Hashable {
    /// The rows as stored, without their values.
    case stored([KeychainRow])
    /// Another row has the same identifying attributes.
    case taken(by: KeychainRow)
    /// One of the rows is no longer at the version that its change applies to.
    case stale
    /// One of the items requires a passcode, but no passcode is set.
    case noPasscode
    /// The program is not allowed to use the access group of one of the items.
    case groupRefused
}

/// A filter that selects keychain rows.
public struct KeychainMatch: Sendable, Hashable, Codable {
    /// The access groups to search; groups that the program may not use are ignored.
    public var groups: [String]
    /// The class of the items.
    public var itemClass: KeychainClass
    /// The number of the only row to select, if a persistent reference identifies it.
    public var id: Int64?
    /// The required attributes; a missing attribute equals an empty one.
    public var attributes: [String: AttributeValue] = [:]
    /// The required value of `kSecAttrAccessible`; `nil` for any.
    public var accessible: String?
    /// Whether to select items that may leave the device; `nil` selects both kinds.
    public var isSynchronizable: Bool? = false
    /// Access control flags: items that have any of these flags are excluded.
    public var leftOutFlags: UInt64 = 0
    /// The numbers of rows to exclude: items that can never be unlocked again, or that were tampered with.
    public var leftOut: Set<Int64> = []

    /// Selects all items of a class in the given groups.
    public init(_ itemClass: KeychainClass, groups: [String]) {
        self.itemClass = itemClass
        self.groups = groups
    }
}

extension [String] {
    /// Returns whether one of the texts has the same bytes as `text`; Swift's `==` ignores differences in Unicode
    /// normalization.
    package func containsBytes(of text: String) -> Bool {
        contains { $0.utf8.elementsEqual(text.utf8) }
    }
}
