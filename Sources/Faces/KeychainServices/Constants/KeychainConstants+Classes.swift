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
/// The reason that the prompt shows, as a text; deprecated by Apple in favour of `LAContext.localizedReason`.
nonisolated(unsafe) public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// Whether the owner may not be asked: true means `kSecUseAuthenticationUIFail`; deprecated by Apple.
nonisolated(unsafe) public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// Ignored: there is only one keychain, and it is of that kind.
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// A list of items to limit the call to; not supported.
nonisolated(unsafe) public let kSecUseItemList: CFString = "u_ItemList"
/// The keychain file to write; ignored, since there is only one keychain.
nonisolated(unsafe) public let kSecUseKeychain: CFString = "u_Keychain"
