// SPDX-License-Identifier: Apache-2.0

// The keys and values of a keychain dictionary: classes, values, results, matching and authentication.
//
// The strings are Apple's. The compiler cannot see that an `NSString` created from a literal never changes: hence
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
/// A certificate together with its private key.
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"

// MARK: - Values

/// The value, as `Data`.
nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"
/// A key, a certificate or an identity, as an object.
nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref"
/// A persistent reference, which permanently identifies one item.
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
/// Whether to ignore case in the subject of certificates.
///
/// Attributes are always compared exactly.
nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// The trust policy that certificates must meet; not supported.
nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy"
/// A list of items to search; not supported.
nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList"
/// The keychain files to search.
///
/// Ignored, because there is only one keychain.
nonisolated(unsafe) public let kSecMatchSearchList: CFString = "m_SearchList"
/// A list of issuers, one of which must have issued the certificate, directly or through intermediate certificates.
nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers"
/// The email address that a certificate must contain if it contains any.
nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// A string that a certificate's subject must contain.
nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// A string that a certificate's subject must begin with.
nonisolated(unsafe) public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// A string that a certificate's subject must end with.
nonisolated(unsafe) public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// A string that a certificate's subject must be equal to.
nonisolated(unsafe) public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// Whether to ignore diacritics in the subject of certificates.
///
/// Attributes are always compared exactly.
nonisolated(unsafe) public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// Whether to ignore character width in the subject of certificates.
///
/// Attributes are always compared exactly.
nonisolated(unsafe) public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// Whether to find only trusted certificates; not supported.
nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// The date on which a certificate must be valid; `NSNull` means now.
nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

// MARK: - Options of a call

/// The `LAContext` that authenticates the owner, or has already done so.
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// Whether a call may show a prompt: one of the three values below.
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// Prompts are allowed, which is the default.
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// Prompts are not allowed.
///
/// A call that requires a prompt fails with `errSecInteractionNotAllowed`.
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// Prompts are not allowed.
///
/// Items that require a prompt are left out.
///
/// Only `SecItemCopyMatching` accepts this value.
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// The reason shown in the prompt, as a string; deprecated by Apple in favor of `LAContext.localizedReason`.
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// Whether prompts are forbidden.
///
/// A value of true is equivalent to `kSecUseAuthenticationUIFail`. Apple has deprecated this key.
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// Whether to use the data protection keychain, which is the only one here.
///
/// If this is true, deletions and changes do not accept a limit, as on macOS. Otherwise, they respect the limit.
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// A list of items to search; not supported.
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"
/// The keychain file to write to.
///
/// Ignored, because there is only one keychain.
nonisolated(unsafe) public let kSecUseKeychain: CFString = "u_Keychain"

// The attributes of items of all classes, and of generic passwords.
//
// The compiler cannot see that an `NSString` created from a literal never changes: hence `nonisolated(unsafe)`.

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
/// Whether the item may leave the device.
///
/// The value is stored and matched, but items never leave a Linux machine.
nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync"
/// A query value that matches items regardless of `kSecAttrSynchronizable`.
nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna"
/// The user-visible label of the item.
nonisolated(unsafe) public let kSecAttrLabel: CFString = "labl"
/// The date on which the item was added.
nonisolated(unsafe) public let kSecAttrCreationDate: CFString = "cdat"
/// The date on which the item was last changed.
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
/// The script of the strings, as a number.
nonisolated(unsafe) public let kSecAttrScriptCode: CFString = "scrp"
/// The set of synchronized items that the item belongs to.
nonisolated(unsafe) public let kSecAttrSyncViewHint: CFString = "vwht"
/// A persistent reference among the attributes; the spelling is Apple's.
nonisolated(unsafe) public let kSecAttrPersistantReference: CFString = "persistref"
/// A persistent reference among the attributes.
nonisolated(unsafe) public let kSecAttrPersistentReference: CFString = "persistref"

// MARK: - Attributes of generic passwords

/// The account of the password; also an attribute of internet passwords.
nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct"
/// The service of the password.
nonisolated(unsafe) public let kSecAttrService: CFString = "svce"
/// Data that the program defines.
nonisolated(unsafe) public let kSecAttrGeneric: CFString = "gena"

// MARK: - Shared web credentials

/// The password in the dictionary of a shared web credential.
nonisolated(unsafe) public let kSecSharedPassword: CFString = "spwd"

// The times at which an item can be opened. Neither the kernel nor the TPM of a Linux machine has a locked state. Items
// are therefore readable whenever their user can run programs. The value is stored, returned and matched, but only
// `…WhenPasscodeSetThisDeviceOnly` has an effect.
//
// The compiler cannot see that an `NSString` created from a literal never changes: hence `nonisolated(unsafe)`.

/// The item is accessible while the device is unlocked (on Apple's systems).
///
/// This is the default.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// The item is accessible after the first unlock since startup (on Apple's systems).
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// The item is always accessible; deprecated by Apple.
nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk"
/// The item is accessible while the device is unlocked (on Apple's systems), but never on another device.
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// The item is accessible after the first unlock since startup (on Apple's systems), but never on another device.
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// The item is always accessible, but never on another device; deprecated by Apple.
nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
/// The item is accessible while a passcode is set.
///
/// To add such an item, a passcode must be set. Removing the passcode deletes the item.
nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"

/// The seven values of `kSecAttrAccessible`.
let accessibleValues: Set<String> = ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"]
