// SPDX-License-Identifier: Apache-2.0

// The attributes of items of all classes, and of generic passwords.
//
// An `NSString` of a literal never changes, which the compiler cannot see: hence `nonisolated(unsafe)`.

// MARK: - Attributes of all items

/// The times at which the item can be opened: one of the `kSecAttrAccessible…` values.
nonisolated(unsafe) public let kSecAttrAccessible: CFString = "pdmn"
/// A `SecAccess` of a keychain file on macOS; not supported.
nonisolated(unsafe) public let kSecAttrAccess: CFString = "acls"
/// The access control of the item: a `SecAccessControl`.
nonisolated(unsafe) public let kSecAttrAccessControl: CFString = "accc"
/// The group of programs that share the item; see Docs/Keychain.md.
nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = "agrp"
/// The group of items on smart cards; not supported.
nonisolated(unsafe) public let kSecAttrAccessGroupToken: CFString = "com.apple.token"
/// Whether the item may leave the device; stored and matched, although no item leaves a Linux machine.
nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync"
/// A value for queries that selects both items that may leave the device and items that may not.
nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna"
/// The user-visible label of the item.
nonisolated(unsafe) public let kSecAttrLabel: CFString = "labl"
/// The date when the item was added.
nonisolated(unsafe) public let kSecAttrCreationDate: CFString = "cdat"
/// The date when the item was last changed.
nonisolated(unsafe) public let kSecAttrModificationDate: CFString = "mdat"
/// The user-visible description of the kind of item.
nonisolated(unsafe) public let kSecAttrDescription: CFString = "desc"
/// A comment.
nonisolated(unsafe) public let kSecAttrComment: CFString = "icmt"
/// The creator of the item: four characters as a number.
nonisolated(unsafe) public let kSecAttrCreator: CFString = "crtr"
/// The type of the item: four characters as a number.
nonisolated(unsafe) public let kSecAttrType: CFString = "type"
/// Whether the item is hidden from the user.
nonisolated(unsafe) public let kSecAttrIsInvisible: CFString = "invi"
/// Whether the item is a placeholder for a password that must not be stored.
nonisolated(unsafe) public let kSecAttrIsNegative: CFString = "nega"
/// The script of the texts, as a number.
nonisolated(unsafe) public let kSecAttrScriptCode: CFString = "scrp"
/// The set of synchronised items that the item belongs to.
nonisolated(unsafe) public let kSecAttrSyncViewHint: CFString = "vwht"
/// A persistent reference among attributes; the spelling is Apple's.
nonisolated(unsafe) public let kSecAttrPersistantReference: CFString = "persistref"
/// A persistent reference among attributes.
nonisolated(unsafe) public let kSecAttrPersistentReference: CFString = "persistref"

// MARK: - Attributes of generic passwords

/// The account that the password belongs to; an attribute of internet passwords too.
nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct"
/// The service that the password belongs to.
nonisolated(unsafe) public let kSecAttrService: CFString = "svce"
/// Bytes that the program defines.
nonisolated(unsafe) public let kSecAttrGeneric: CFString = "gena"

// MARK: - Shared web credentials

/// The password in a dictionary of a shared web credential.
nonisolated(unsafe) public let kSecSharedPassword: CFString = "spwd"
