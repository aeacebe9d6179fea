// SPDX-License-Identifier: Apache-2.0

// The keys and values of a keychain dictionary: classes of items, values, results, matching and authentication.
//
// The strings are Apple's. An `NSString` of a literal never changes, which the compiler cannot see: hence
// `nonisolated(unsafe)`.

// MARK: - Classes

/// The class of an item.
nonisolated(unsafe) public let kSecClass: CFString = "class"
/// A password of any kind, identified by service and account.
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"
/// A password for a server.
nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet"
/// An X.509 certificate.
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"
/// A key.
nonisolated(unsafe) public let kSecClassKey: CFString = "keys"
/// A certificate together with the private key for it.
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"

// MARK: - Values

/// The value, as `Data`.
nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"
/// A key, a certificate or an identity, as an object.
nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref"
/// A persistent reference, which names one item permanently.
nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef"

// MARK: - Results

/// Whether to return the value.
nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data"
/// Whether to return the attributes.
nonisolated(unsafe) public let kSecReturnAttributes: CFString = "r_Attributes"
/// Whether to return a key, a certificate or an identity as an object.
nonisolated(unsafe) public let kSecReturnRef: CFString = "r_Ref"
/// Whether to return a persistent reference.
nonisolated(unsafe) public let kSecReturnPersistentRef: CFString = "r_PersistentRef"

// MARK: - Matching

/// The maximum number of items: a number, or one of the two values below.
nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit"
/// One item, which is the default.
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne"
/// All items, in an array.
nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll"
/// For the subject of certificates; attributes are always compared exactly.
nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// Certificates for a trust policy; not supported.
nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy"
/// A list of items to limit the call to; not supported.
nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList"
/// The keychain files to search; ignored, since there is only one keychain.
nonisolated(unsafe) public let kSecMatchSearchList: CFString = "m_SearchList"
/// Certificates of these issuers, or of issuers that they certified.
nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers"
/// Certificates with this e-mail address, and those with none.
nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// Certificates whose subject contains a text.
nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// Certificates whose subject begins with a text.
nonisolated(unsafe) public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// Certificates whose subject ends with a text.
nonisolated(unsafe) public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// Certificates whose subject equals a text.
nonisolated(unsafe) public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// For the subject of certificates; attributes are always compared exactly.
nonisolated(unsafe) public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// For the subject of certificates; attributes are always compared exactly.
nonisolated(unsafe) public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// Only certificates that are trusted; not supported.
nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// Only certificates that are valid at an instant; `NSNull` stands for now.
nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

// MARK: - Options of a call

/// The `LAContext` that authenticates the owner, or has done so before.
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// Whether the owner may be asked: one of the three values below.
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// The owner may be asked, which is the default.
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// The owner may not be asked: a call that needs it fails with `errSecInteractionNotAllowed`.
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// The owner may not be asked: items that need it are left out; only for `SecItemCopyMatching`.
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// The reason that the prompt shows, as a text; deprecated by Apple in favor of `LAContext.localizedReason`.
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// Whether the owner may not be asked: true means `kSecUseAuthenticationUIFail`; deprecated by Apple.
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// Ignored: there is only one keychain, and it is of that kind.
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// A list of items to limit the call to; not supported.
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"
/// The keychain file to write; ignored, since there is only one keychain.
nonisolated(unsafe) public let kSecUseKeychain: CFString = "u_Keychain"

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
/// The set of synchronized items that the item belongs to.
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

// The times at which an item can be opened. Neither the kernel nor the chip of a Linux machine knows a locked state, so
// items are readable while their user can run programs, whatever the value; the value is stored, returned and matched.
// Only `…WhenPasscodeSetThisDeviceOnly` has an effect of its own.
//
// An `NSString` of a literal never changes, which the compiler cannot see: hence `nonisolated(unsafe)`.

/// On Apple's systems, while the device is unlocked; the default.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// On Apple's systems, after the first unlock since the start.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// Always; deprecated by Apple.
nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk"
/// On Apple's systems, while the device is unlocked, and never on another device.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// On Apple's systems, after the first unlock since the start, and never on another device.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// Always, and never on another device; deprecated by Apple.
nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
/// While a passcode is set: such an item cannot be added without one, and is deleted when the passcode is removed.
nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"

/// The seven values of `kSecAttrAccessible`.
let accessibleValues: Set<String> = ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"]
