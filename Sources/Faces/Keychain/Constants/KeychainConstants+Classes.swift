// SPDX-License-Identifier: Apache-2.0

// What a keychain dictionary is about: the classes of items, what goes in, what comes out, and how it is searched.
//
// The texts are Apple's.
// An `NSString` of a literal never changes, which the compiler cannot see: hence `nonisolated(unsafe)`.

// MARK: - Classes

/// The class of an item.
nonisolated(unsafe) public let kSecClass: CFString = "class"
/// A password of any kind, known by service and account.
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"
/// A password for a server.
nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet"
/// An X.509 certificate.
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"
/// A key.
nonisolated(unsafe) public let kSecClassKey: CFString = "keys"
/// A certificate together with its private key; no query finds one here.
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"

// MARK: - Values

/// The value, as `Data`.
nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"
/// A key or a certificate, as an object.
nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref"
/// A persistent reference, which names one item for good.
nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef"

// MARK: - What a call gives

/// Whether the value is given.
nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data"
/// Whether the attributes are given.
nonisolated(unsafe) public let kSecReturnAttributes: CFString = "r_Attributes"
/// Whether a key or a certificate is given as an object.
nonisolated(unsafe) public let kSecReturnRef: CFString = "r_Ref"
/// Whether a persistent reference is given.
nonisolated(unsafe) public let kSecReturnPersistentRef: CFString = "r_PersistentRef"

// MARK: - How a query matches

/// How many items are given at most: a number, or one of the two values below.
nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit"
/// One item, which is the default.
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne"
/// All items, in an array.
nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll"
/// Counts for nothing: attributes are compared as they are.
nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// Certificates for a trust policy; not supported.
nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy"
/// Only these items; not supported.
nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList"
/// Which keychain files are searched; counts for nothing, there is one keychain.
nonisolated(unsafe) public let kSecMatchSearchList: CFString = "m_SearchList"
/// Certificates of these issuers; not supported.
nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers"
/// Certificates with an address; not supported.
nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// Certificates whose subject holds a text; not supported.
nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// Certificates whose subject begins with a text; not supported.
nonisolated(unsafe) public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// Certificates whose subject ends with a text; not supported.
nonisolated(unsafe) public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// Certificates whose subject is a text; not supported.
nonisolated(unsafe) public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// Counts for nothing: attributes are compared as they are.
nonisolated(unsafe) public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// Counts for nothing: attributes are compared as they are.
nonisolated(unsafe) public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// Only certificates that are trusted; not supported.
nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// Only certificates that are valid on a day; not supported.
nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

// MARK: - How a call is done

/// The `LAContext` that asks the owner, or has asked before.
nonisolated(unsafe) public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// Whether the owner may be asked: one of the three values below.
nonisolated(unsafe) public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// He may, which is the default.
nonisolated(unsafe) public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// He may not: what would need it fails with `errSecInteractionNotAllowed`.
nonisolated(unsafe) public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// He may not: items that need it are left out; only for `SecItemCopyMatching`.
nonisolated(unsafe) public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// Why the owner is asked, as a text; deprecated by Apple for `LAContext.localizedReason`.
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// True is `kSecUseAuthenticationUIFail`; deprecated by Apple.
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// Counts for nothing: there is one keychain, and it is of that kind.
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// Only these items; not supported.
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"
/// Which keychain file is written; counts for nothing, there is one keychain.
nonisolated(unsafe) public let kSecUseKeychain: CFString = "u_Keychain"
