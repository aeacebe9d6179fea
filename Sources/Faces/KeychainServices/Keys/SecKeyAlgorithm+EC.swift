// SPDX-License-Identifier: Apache-2.0

// The algorithms of elliptic curve keys. "Message" algorithms hash their input; "digest" algorithms expect a hash. X962
// signatures are `SEQUENCE { r, s }` in DER (ANSI X9.62). RFC4754 signatures are r and s concatenated.

extension SecKeyAlgorithm {
    // MARK: - Signatures

    /// ECDSA over a hash of any kind, r and s concatenated.
    public static let ecdsaSignatureRFC4754 = Self("algid:sign:ECDSA:RFC4754")
    /// ECDSA over a hash of any kind, r and s concatenated.
    public static let ecdsaSignatureDigestRFC4754 = Self("algid:sign:ECDSA:digest-RFC4754")
    /// ECDSA over a hash of any kind, DER.
    public static let ecdsaSignatureDigestX962 = Self("algid:sign:ECDSA:digest-X962")
    /// ECDSA over a message, hashed with SHA1; DER.
    public static let ecdsaSignatureMessageX962SHA1 = Self("algid:sign:ECDSA:message-X962:SHA1")
    /// ECDSA over a message, hashed with SHA224; DER.
    public static let ecdsaSignatureMessageX962SHA224 = Self("algid:sign:ECDSA:message-X962:SHA224")
    /// ECDSA over a message, hashed with SHA256; DER.
    public static let ecdsaSignatureMessageX962SHA256 = Self("algid:sign:ECDSA:message-X962:SHA256")
    /// ECDSA over a message, hashed with SHA384; DER.
    public static let ecdsaSignatureMessageX962SHA384 = Self("algid:sign:ECDSA:message-X962:SHA384")
    /// ECDSA over a message, hashed with SHA512; DER.
    public static let ecdsaSignatureMessageX962SHA512 = Self("algid:sign:ECDSA:message-X962:SHA512")
    /// ECDSA over a SHA1 hash; DER.
    public static let ecdsaSignatureDigestX962SHA1 = Self("algid:sign:ECDSA:digest-X962:SHA1")
    /// ECDSA over a SHA224 hash; DER.
    public static let ecdsaSignatureDigestX962SHA224 = Self("algid:sign:ECDSA:digest-X962:SHA224")
    /// ECDSA over a SHA256 hash; DER.
    public static let ecdsaSignatureDigestX962SHA256 = Self("algid:sign:ECDSA:digest-X962:SHA256")
    /// ECDSA over a SHA384 hash; DER.
    public static let ecdsaSignatureDigestX962SHA384 = Self("algid:sign:ECDSA:digest-X962:SHA384")
    /// ECDSA over a SHA512 hash; DER.
    public static let ecdsaSignatureDigestX962SHA512 = Self("algid:sign:ECDSA:digest-X962:SHA512")
    /// ECDSA over a message, hashed with SHA1; r and s concatenated.
    public static let ecdsaSignatureMessageRFC4754SHA1 = Self("algid:sign:ECDSA:message-RFC4754:SHA1")
    /// ECDSA over a message, hashed with SHA224; r and s concatenated.
    public static let ecdsaSignatureMessageRFC4754SHA224 = Self("algid:sign:ECDSA:message-RFC4754:SHA224")
    /// ECDSA over a message, hashed with SHA256; r and s concatenated.
    public static let ecdsaSignatureMessageRFC4754SHA256 = Self("algid:sign:ECDSA:message-RFC4754:SHA256")
    /// ECDSA over a message, hashed with SHA384; r and s concatenated.
    public static let ecdsaSignatureMessageRFC4754SHA384 = Self("algid:sign:ECDSA:message-RFC4754:SHA384")
    /// ECDSA over a message, hashed with SHA512; r and s concatenated.
    public static let ecdsaSignatureMessageRFC4754SHA512 = Self("algid:sign:ECDSA:message-RFC4754:SHA512")
    /// ECDSA over a SHA1 hash; r and s concatenated.
    public static let ecdsaSignatureDigestRFC4754SHA1 = Self("algid:sign:ECDSA:digest-RFC4754:SHA1")
    /// ECDSA over a SHA224 hash; r and s concatenated.
    public static let ecdsaSignatureDigestRFC4754SHA224 = Self("algid:sign:ECDSA:digest-RFC4754:SHA224")
    /// ECDSA over a SHA256 hash; r and s concatenated.
    public static let ecdsaSignatureDigestRFC4754SHA256 = Self("algid:sign:ECDSA:digest-RFC4754:SHA256")
    /// ECDSA over a SHA384 hash; r and s concatenated.
    public static let ecdsaSignatureDigestRFC4754SHA384 = Self("algid:sign:ECDSA:digest-RFC4754:SHA384")
    /// ECDSA over a SHA512 hash; r and s concatenated.
    public static let ecdsaSignatureDigestRFC4754SHA512 = Self("algid:sign:ECDSA:digest-RFC4754:SHA512")

    // MARK: - Encryption

    /// ECIES with ECDH, the key derivation of ANSI X9.63 with SHA1, AES-GCM and a zero IV.
    public static let eciesEncryptionStandardX963SHA1AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM"
    )
    /// ECIES with ECDH, the key derivation of ANSI X9.63 with SHA224, AES-GCM and a zero IV.
    public static let eciesEncryptionStandardX963SHA224AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM"
    )
    /// ECIES with ECDH, the key derivation of ANSI X9.63 with SHA256, AES-GCM and a zero IV.
    public static let eciesEncryptionStandardX963SHA256AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM"
    )
    /// ECIES with ECDH, the key derivation of ANSI X9.63 with SHA384, AES-GCM and a zero IV.
    public static let eciesEncryptionStandardX963SHA384AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM"
    )
    /// ECIES with ECDH, the key derivation of ANSI X9.63 with SHA512, AES-GCM and a zero IV.
    public static let eciesEncryptionStandardX963SHA512AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM"
    )
    /// ECIES with ECDH, the key derivation of ANSI X9.63 with SHA224, AES-GCM and a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV"
    )
    /// ECIES with ECDH, the key derivation of ANSI X9.63 with SHA256, AES-GCM and a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV"
    )
    /// ECIES with ECDH, the key derivation of ANSI X9.63 with SHA384, AES-GCM and a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV"
    )
    /// ECIES with ECDH, the key derivation of ANSI X9.63 with SHA512, AES-GCM and a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV"
    )
    /// ECIES with ECDHC, the key derivation of ANSI X9.63 with SHA1, AES-GCM and a zero IV.
    public static let eciesEncryptionCofactorX963SHA1AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM"
    )
    /// ECIES with ECDHC, the key derivation of ANSI X9.63 with SHA224, AES-GCM and a zero IV.
    public static let eciesEncryptionCofactorX963SHA224AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM"
    )
    /// ECIES with ECDHC, the key derivation of ANSI X9.63 with SHA256, AES-GCM and a zero IV.
    public static let eciesEncryptionCofactorX963SHA256AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM"
    )
    /// ECIES with ECDHC, the key derivation of ANSI X9.63 with SHA384, AES-GCM and a zero IV.
    public static let eciesEncryptionCofactorX963SHA384AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM"
    )
    /// ECIES with ECDHC, the key derivation of ANSI X9.63 with SHA512, AES-GCM and a zero IV.
    public static let eciesEncryptionCofactorX963SHA512AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM"
    )
    /// ECIES with ECDHC, the key derivation of ANSI X9.63 with SHA224, AES-GCM and a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV"
    )
    /// ECIES with ECDHC, the key derivation of ANSI X9.63 with SHA256, AES-GCM and a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV"
    )
    /// ECIES with ECDHC, the key derivation of ANSI X9.63 with SHA384, AES-GCM and a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV"
    )
    /// ECIES with ECDHC, the key derivation of ANSI X9.63 with SHA512, AES-GCM and a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV"
    )

    // MARK: - Key exchange

    /// ECDH; the result is the X coordinate.
    public static let ecdhKeyExchangeStandard = Self("algid:keyexchange:ECDH")
    /// ECDH, and the key derivation of ANSI X9.63 with SHA1.
    public static let ecdhKeyExchangeStandardX963SHA1 = Self("algid:keyexchange:ECDH:KDFX963:SHA1")
    /// ECDH, and the key derivation of ANSI X9.63 with SHA224.
    public static let ecdhKeyExchangeStandardX963SHA224 = Self("algid:keyexchange:ECDH:KDFX963:SHA224")
    /// ECDH, and the key derivation of ANSI X9.63 with SHA256.
    public static let ecdhKeyExchangeStandardX963SHA256 = Self("algid:keyexchange:ECDH:KDFX963:SHA256")
    /// ECDH, and the key derivation of ANSI X9.63 with SHA384.
    public static let ecdhKeyExchangeStandardX963SHA384 = Self("algid:keyexchange:ECDH:KDFX963:SHA384")
    /// ECDH, and the key derivation of ANSI X9.63 with SHA512.
    public static let ecdhKeyExchangeStandardX963SHA512 = Self("algid:keyexchange:ECDH:KDFX963:SHA512")
    /// ECDHC; the result is the X coordinate.
    public static let ecdhKeyExchangeCofactor = Self("algid:keyexchange:ECDHC")
    /// ECDHC, and the key derivation of ANSI X9.63 with SHA1.
    public static let ecdhKeyExchangeCofactorX963SHA1 = Self("algid:keyexchange:ECDHC:KDFX963:SHA1")
    /// ECDHC, and the key derivation of ANSI X9.63 with SHA224.
    public static let ecdhKeyExchangeCofactorX963SHA224 = Self("algid:keyexchange:ECDHC:KDFX963:SHA224")
    /// ECDHC, and the key derivation of ANSI X9.63 with SHA256.
    public static let ecdhKeyExchangeCofactorX963SHA256 = Self("algid:keyexchange:ECDHC:KDFX963:SHA256")
    /// ECDHC, and the key derivation of ANSI X9.63 with SHA384.
    public static let ecdhKeyExchangeCofactorX963SHA384 = Self("algid:keyexchange:ECDHC:KDFX963:SHA384")
    /// ECDHC, and the key derivation of ANSI X9.63 with SHA512.
    public static let ecdhKeyExchangeCofactorX963SHA512 = Self("algid:keyexchange:ECDHC:KDFX963:SHA512")
}
