// SPDX-License-Identifier: Apache-2.0

// The algorithms of RSA keys. "Message" algorithms hash their input; "digest" algorithms expect a hash.

extension SecKeyAlgorithm {
    // MARK: - Signatures

    /// An RSA signature without padding; not supported.
    public static let rsaSignatureRaw = Self("algid:sign:RSA:raw")
    /// An RSA signature with PKCS#1 v1.5 padding over a hash, without the name of the hash function; not supported.
    public static let rsaSignatureDigestPKCS1v15Raw = Self("algid:sign:RSA:digest-PKCS1v15")
    /// An RSA signature with PKCS#1 v1.5 padding over a message that is hashed with SHA1.
    public static let rsaSignatureMessagePKCS1v15SHA1 = Self("algid:sign:RSA:message-PKCS1v15:SHA1")
    /// An RSA signature with PKCS#1 v1.5 padding over a message that is hashed with SHA224.
    public static let rsaSignatureMessagePKCS1v15SHA224 = Self("algid:sign:RSA:message-PKCS1v15:SHA224")
    /// An RSA signature with PKCS#1 v1.5 padding over a message that is hashed with SHA256.
    public static let rsaSignatureMessagePKCS1v15SHA256 = Self("algid:sign:RSA:message-PKCS1v15:SHA256")
    /// An RSA signature with PKCS#1 v1.5 padding over a message that is hashed with SHA384.
    public static let rsaSignatureMessagePKCS1v15SHA384 = Self("algid:sign:RSA:message-PKCS1v15:SHA384")
    /// An RSA signature with PKCS#1 v1.5 padding over a message that is hashed with SHA512.
    public static let rsaSignatureMessagePKCS1v15SHA512 = Self("algid:sign:RSA:message-PKCS1v15:SHA512")
    /// An RSA signature with PKCS#1 v1.5 padding over a SHA1 hash.
    public static let rsaSignatureDigestPKCS1v15SHA1 = Self("algid:sign:RSA:digest-PKCS1v15:SHA1")
    /// An RSA signature with PKCS#1 v1.5 padding over a SHA224 hash.
    public static let rsaSignatureDigestPKCS1v15SHA224 = Self("algid:sign:RSA:digest-PKCS1v15:SHA224")
    /// An RSA signature with PKCS#1 v1.5 padding over a SHA256 hash.
    public static let rsaSignatureDigestPKCS1v15SHA256 = Self("algid:sign:RSA:digest-PKCS1v15:SHA256")
    /// An RSA signature with PKCS#1 v1.5 padding over a SHA384 hash.
    public static let rsaSignatureDigestPKCS1v15SHA384 = Self("algid:sign:RSA:digest-PKCS1v15:SHA384")
    /// An RSA signature with PKCS#1 v1.5 padding over a SHA512 hash.
    public static let rsaSignatureDigestPKCS1v15SHA512 = Self("algid:sign:RSA:digest-PKCS1v15:SHA512")
    /// An RSA signature with PSS padding over a message that is hashed with SHA1.
    public static let rsaSignatureMessagePSSSHA1 = Self("algid:sign:RSA:message-PSS:SHA1:SHA1:20")
    /// An RSA signature with PSS padding over a message that is hashed with SHA224.
    public static let rsaSignatureMessagePSSSHA224 = Self("algid:sign:RSA:message-PSS:SHA224:SHA224:24")
    /// An RSA signature with PSS padding over a message that is hashed with SHA256.
    public static let rsaSignatureMessagePSSSHA256 = Self("algid:sign:RSA:message-PSS:SHA256:SHA256:32")
    /// An RSA signature with PSS padding over a message that is hashed with SHA384.
    public static let rsaSignatureMessagePSSSHA384 = Self("algid:sign:RSA:message-PSS:SHA384:SHA384:48")
    /// An RSA signature with PSS padding over a message that is hashed with SHA512.
    public static let rsaSignatureMessagePSSSHA512 = Self("algid:sign:RSA:message-PSS:SHA512:SHA512:64")
    /// An RSA signature with PSS padding over a SHA1 hash.
    public static let rsaSignatureDigestPSSSHA1 = Self("algid:sign:RSA:digest-PSS:SHA1:SHA1:20")
    /// An RSA signature with PSS padding over a SHA224 hash.
    public static let rsaSignatureDigestPSSSHA224 = Self("algid:sign:RSA:digest-PSS:SHA224:SHA224:24")
    /// An RSA signature with PSS padding over a SHA256 hash.
    public static let rsaSignatureDigestPSSSHA256 = Self("algid:sign:RSA:digest-PSS:SHA256:SHA256:32")
    /// An RSA signature with PSS padding over a SHA384 hash.
    public static let rsaSignatureDigestPSSSHA384 = Self("algid:sign:RSA:digest-PSS:SHA384:SHA384:48")
    /// An RSA signature with PSS padding over a SHA512 hash.
    public static let rsaSignatureDigestPSSSHA512 = Self("algid:sign:RSA:digest-PSS:SHA512:SHA512:64")

    // MARK: - Encryption

    /// RSA encryption without padding; not supported.
    public static let rsaEncryptionRaw = Self("algid:encrypt:RSA:raw")
    /// RSA encryption with PKCS#1 v1.5 padding.
    public static let rsaEncryptionPKCS1 = Self("algid:encrypt:RSA:PKCS1")
    /// RSA encryption with OAEP padding and SHA1.
    public static let rsaEncryptionOAEPSHA1 = Self("algid:encrypt:RSA:OAEP:SHA1")
    /// RSA encryption with OAEP padding and SHA224.
    public static let rsaEncryptionOAEPSHA224 = Self("algid:encrypt:RSA:OAEP:SHA224")
    /// RSA encryption with OAEP padding and SHA256.
    public static let rsaEncryptionOAEPSHA256 = Self("algid:encrypt:RSA:OAEP:SHA256")
    /// RSA encryption with OAEP padding and SHA384.
    public static let rsaEncryptionOAEPSHA384 = Self("algid:encrypt:RSA:OAEP:SHA384")
    /// RSA encryption with OAEP padding and SHA512.
    public static let rsaEncryptionOAEPSHA512 = Self("algid:encrypt:RSA:OAEP:SHA512")
    /// AES-GCM encryption with a random key, which is encrypted with RSA, OAEP and SHA1.
    public static let rsaEncryptionOAEPSHA1AESGCM = Self("algid:encrypt:RSA:OAEP:SHA1:AESGCM")
    /// AES-GCM encryption with a random key, which is encrypted with RSA, OAEP and SHA224.
    public static let rsaEncryptionOAEPSHA224AESGCM = Self("algid:encrypt:RSA:OAEP:SHA224:AESGCM")
    /// AES-GCM encryption with a random key, which is encrypted with RSA, OAEP and SHA256.
    public static let rsaEncryptionOAEPSHA256AESGCM = Self("algid:encrypt:RSA:OAEP:SHA256:AESGCM")
    /// AES-GCM encryption with a random key, which is encrypted with RSA, OAEP and SHA384.
    public static let rsaEncryptionOAEPSHA384AESGCM = Self("algid:encrypt:RSA:OAEP:SHA384:AESGCM")
    /// AES-GCM encryption with a random key, which is encrypted with RSA, OAEP and SHA512.
    public static let rsaEncryptionOAEPSHA512AESGCM = Self("algid:encrypt:RSA:OAEP:SHA512:AESGCM")
}
