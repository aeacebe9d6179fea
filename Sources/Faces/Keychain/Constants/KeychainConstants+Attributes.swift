// SPDX-License-Identifier: Apache-2.0

// The attributes of items of all classes, and of generic passwords.
//
// An `NSString` of a literal never changes, which the compiler cannot see: hence `nonisolated(unsafe)`.

// MARK: - Of every item

/// When the item can be opened: one of the `kSecAttrAccessible…` values.
nonisolated(unsafe) public let kSecAttrAccessible: CFString = "pdmn"
/// A `SecAccess` of a keychain file on macOS; not supported.
nonisolated(unsafe) public let kSecAttrAccess: CFString = "acls"
/// What must be shown: a `SecAccessControl`.
nonisolated(unsafe) public let kSecAttrAccessControl: CFString = "accc"
/// The group of programs that share the item; see Docs/Keychain.md.
nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = "agrp"
/// The group of items on smart cards; there are none here.
nonisolated(unsafe) public let kSecAttrAccessGroupToken: CFString = "com.apple.token"
/// Whether the item may leave the device; kept and matched, nothing leaves a Linux machine.
nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync"
/// In a query: items of both kinds.
nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna"
/// A name for people.
nonisolated(unsafe) public let kSecAttrLabel: CFString = "labl"
/// When the item was added.
nonisolated(unsafe) public let kSecAttrCreationDate: CFString = "cdat"
/// When the item was changed.
nonisolated(unsafe) public let kSecAttrModificationDate: CFString = "mdat"
/// What kind of item it is, for people.
nonisolated(unsafe) public let kSecAttrDescription: CFString = "desc"
/// A comment.
nonisolated(unsafe) public let kSecAttrComment: CFString = "icmt"
/// Who made the item: four characters as a number.
nonisolated(unsafe) public let kSecAttrCreator: CFString = "crtr"
/// What type it is of: four characters as a number.
nonisolated(unsafe) public let kSecAttrType: CFString = "type"
/// Whether people shall not see it.
nonisolated(unsafe) public let kSecAttrIsInvisible: CFString = "invi"
/// Whether it stands for a password that shall not be stored.
nonisolated(unsafe) public let kSecAttrIsNegative: CFString = "nega"
/// The script of the texts, as a number.
nonisolated(unsafe) public let kSecAttrScriptCode: CFString = "scrp"
/// Which set of synchronised items it belongs to.
nonisolated(unsafe) public let kSecAttrSyncViewHint: CFString = "vwht"
/// A persistent reference among attributes; Apple spells it so.
nonisolated(unsafe) public let kSecAttrPersistantReference: CFString = "persistref"
/// A persistent reference among attributes.
nonisolated(unsafe) public let kSecAttrPersistentReference: CFString = "persistref"

// MARK: - Of generic passwords

/// Whose password; of internet passwords too.
nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct"
/// For what.
nonisolated(unsafe) public let kSecAttrService: CFString = "svce"
/// Bytes of the program's own.
nonisolated(unsafe) public let kSecAttrGeneric: CFString = "gena"

// MARK: - Elsewhere

/// The password in a dictionary of a shared web credential.
nonisolated(unsafe) public let kSecSharedPassword: CFString = "spwd"
