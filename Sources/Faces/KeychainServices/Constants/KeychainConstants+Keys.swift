// SPDX-License-Identifier: Apache-2.0

// The attributes of keys and certificates, and their values.
//
// The compiler cannot see that an `NSString` created from a literal never changes: hence `nonisolated(unsafe)`.

// MARK: - Attributes of keys

/// The class of the key: public, private or symmetric.
nonisolated(unsafe) public let kSecAttrKeyClass: CFString = "kcls"
/// A public key.
nonisolated(unsafe) public let kSecAttrKeyClassPublic: CFString = "0"
/// A private key.
nonisolated(unsafe) public let kSecAttrKeyClassPrivate: CFString = "1"
/// A symmetric key.
nonisolated(unsafe) public let kSecAttrKeyClassSymmetric: CFString = "2"
/// The identifier with which programs find the key.
///
/// For a key pair, this is the SHA-1 hash of the public key.
nonisolated(unsafe) public let kSecAttrApplicationLabel: CFString = "klbl"
/// Data with which the program identifies the key.
nonisolated(unsafe) public let kSecAttrApplicationTag: CFString = "atag"
/// The kind of key: one of the values below.
nonisolated(unsafe) public let kSecAttrKeyType: CFString = "type"
/// RSA.
nonisolated(unsafe) public let kSecAttrKeyTypeRSA: CFString = "42"
/// DSA.
nonisolated(unsafe) public let kSecAttrKeyTypeDSA: CFString = "43"
/// AES.
nonisolated(unsafe) public let kSecAttrKeyTypeAES: CFString = "2147483649"
/// DES.
nonisolated(unsafe) public let kSecAttrKeyTypeDES: CFString = "14"
/// Triple DES.
nonisolated(unsafe) public let kSecAttrKeyType3DES: CFString = "17"
/// RC4.
nonisolated(unsafe) public let kSecAttrKeyTypeRC4: CFString = "25"
/// RC2.
nonisolated(unsafe) public let kSecAttrKeyTypeRC2: CFString = "23"
/// CAST.
nonisolated(unsafe) public let kSecAttrKeyTypeCAST: CFString = "56"
/// An elliptic curve key; deprecated by Apple.
nonisolated(unsafe) public let kSecAttrKeyTypeECDSA: CFString = "73"
/// An elliptic curve key; deprecated by Apple.
nonisolated(unsafe) public let kSecAttrKeyTypeEC: CFString = "73"
/// A key on a NIST elliptic curve.
nonisolated(unsafe) public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// The size of the key in bits.
nonisolated(unsafe) public let kSecAttrKeySizeInBits: CFString = "bsiz"
/// The effective size of the key in bits.
nonisolated(unsafe) public let kSecAttrEffectiveKeySize: CFString = "esiz"
/// Whether a new key is stored in the keychain.
nonisolated(unsafe) public let kSecAttrIsPermanent: CFString = "perm"
/// Whether the key can be exported only in encrypted form.
nonisolated(unsafe) public let kSecAttrIsSensitive: CFString = "sens"
/// Whether the key can be exported.
nonisolated(unsafe) public let kSecAttrIsExtractable: CFString = "extr"
/// Whether the key can encrypt.
nonisolated(unsafe) public let kSecAttrCanEncrypt: CFString = "encr"
/// Whether the key can decrypt.
nonisolated(unsafe) public let kSecAttrCanDecrypt: CFString = "decr"
/// Whether other keys can be derived from the key.
nonisolated(unsafe) public let kSecAttrCanDerive: CFString = "drve"
/// Whether the key can sign.
nonisolated(unsafe) public let kSecAttrCanSign: CFString = "sign"
/// Whether the key can verify signatures.
nonisolated(unsafe) public let kSecAttrCanVerify: CFString = "vrfy"
/// Whether the key can encrypt keys.
nonisolated(unsafe) public let kSecAttrCanWrap: CFString = "wrap"
/// Whether the key can decrypt keys.
nonisolated(unsafe) public let kSecAttrCanUnwrap: CFString = "unwp"
/// The token that stores the key.
nonisolated(unsafe) public let kSecAttrTokenID: CFString = "tkid"
/// The token for keys in the TPM.
nonisolated(unsafe) public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"

// MARK: - Key creation

/// The attributes of the private half.
nonisolated(unsafe) public let kSecPrivateKeyAttrs: CFString = "private"
/// The attributes of the public half.
nonisolated(unsafe) public let kSecPublicKeyAttrs: CFString = "public"
/// The pseudorandom function that derives a key from a password.
nonisolated(unsafe) public let kSecAttrPRF: CFString = "prf"
/// HMAC with SHA-1.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA1: CFString = "hsha1"
/// HMAC with SHA-224.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA224: CFString = "hsha224"
/// HMAC with SHA-256.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA256: CFString = "hsha256"
/// HMAC with SHA-384.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA384: CFString = "hsha384"
/// HMAC with SHA-512.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA512: CFString = "hsha512"
/// The salt of the key derivation.
nonisolated(unsafe) public let kSecAttrSalt: CFString = "salt"
/// The number of rounds of the key derivation.
nonisolated(unsafe) public let kSecAttrRounds: CFString = "rounds"

// MARK: - Attributes of certificates

/// The type of the certificate, as a number.
nonisolated(unsafe) public let kSecAttrCertificateType: CFString = "ctyp"
/// The encoding of the certificate, as a number.
nonisolated(unsafe) public let kSecAttrCertificateEncoding: CFString = "cenc"
/// The subject, in DER.
nonisolated(unsafe) public let kSecAttrSubject: CFString = "subj"
/// The issuer, in DER.
nonisolated(unsafe) public let kSecAttrIssuer: CFString = "issr"
/// The serial number.
nonisolated(unsafe) public let kSecAttrSerialNumber: CFString = "slnr"
/// The identifier of the subject's key.
nonisolated(unsafe) public let kSecAttrSubjectKeyID: CFString = "skid"
/// The SHA-1 hash of the public key.
nonisolated(unsafe) public let kSecAttrPublicKeyHash: CFString = "pkhh"
