// SPDX-License-Identifier: Apache-2.0

// The algorithms of elliptic curve keys. "Message" algorithms hash their input; "digest" algorithms expect a hash. X962
// signatures are `SEQUENCE { r, s }` in DER (ANSI X9.62). RFC4754 signatures are r and s concatenated.

extension SecKeyAlgorithm {
    // MARK: - Signatures

    /// An ECDSA signature, as r and s concatenated, over a hash of any kind.
    public static let ecdsaSignatureRFC4754 = Self("algid:sign:ECDSA:RFC4754")
    /// An ECDSA signature, as r and s concatenated, over a hash of any kind.
    public static let ecdsaSignatureDigestRFC4754 = Self("algid:sign:ECDSA:digest-RFC4754")
    /// An ECDSA signature in DER over a hash of any kind.
    public static let ecdsaSignatureDigestX962 = Self("algid:sign:ECDSA:digest-X962")
    /// An ECDSA signature in DER over a message that is hashed with SHA1.
    public static let ecdsaSignatureMessageX962SHA1 = Self("algid:sign:ECDSA:message-X962:SHA1")
    /// An ECDSA signature in DER over a message that is hashed with SHA224.
    public static let ecdsaSignatureMessageX962SHA224 = Self("algid:sign:ECDSA:message-X962:SHA224")
    /// An ECDSA signature in DER over a message that is hashed with SHA256.
    public static let ecdsaSignatureMessageX962SHA256 = Self("algid:sign:ECDSA:message-X962:SHA256")
    /// An ECDSA signature in DER over a message that is hashed with SHA384.
    public static let ecdsaSignatureMessageX962SHA384 = Self("algid:sign:ECDSA:message-X962:SHA384")
    /// An ECDSA signature in DER over a message that is hashed with SHA512.
    public static let ecdsaSignatureMessageX962SHA512 = Self("algid:sign:ECDSA:message-X962:SHA512")
    /// An ECDSA signature in DER over a SHA1 hash.
    public static let ecdsaSignatureDigestX962SHA1 = Self("algid:sign:ECDSA:digest-X962:SHA1")
    /// An ECDSA signature in DER over a SHA224 hash.
    public static let ecdsaSignatureDigestX962SHA224 = Self("algid:sign:ECDSA:digest-X962:SHA224")
    /// An ECDSA signature in DER over a SHA256 hash.
    public static let ecdsaSignatureDigestX962SHA256 = Self("algid:sign:ECDSA:digest-X962:SHA256")
    /// An ECDSA signature in DER over a SHA384 hash.
    public static let ecdsaSignatureDigestX962SHA384 = Self("algid:sign:ECDSA:digest-X962:SHA384")
    /// An ECDSA signature in DER over a SHA512 hash.
    public static let ecdsaSignatureDigestX962SHA512 = Self("algid:sign:ECDSA:digest-X962:SHA512")
    /// An ECDSA signature, as r and s concatenated, over a message that is hashed with SHA1.
    public static let ecdsaSignatureMessageRFC4754SHA1 = Self("algid:sign:ECDSA:message-RFC4754:SHA1")
    /// An ECDSA signature, as r and s concatenated, over a message that is hashed with SHA224.
    public static let ecdsaSignatureMessageRFC4754SHA224 = Self("algid:sign:ECDSA:message-RFC4754:SHA224")
    /// An ECDSA signature, as r and s concatenated, over a message that is hashed with SHA256.
    public static let ecdsaSignatureMessageRFC4754SHA256 = Self("algid:sign:ECDSA:message-RFC4754:SHA256")
    /// An ECDSA signature, as r and s concatenated, over a message that is hashed with SHA384.
    public static let ecdsaSignatureMessageRFC4754SHA384 = Self("algid:sign:ECDSA:message-RFC4754:SHA384")
    /// An ECDSA signature, as r and s concatenated, over a message that is hashed with SHA512.
    public static let ecdsaSignatureMessageRFC4754SHA512 = Self("algid:sign:ECDSA:message-RFC4754:SHA512")
    /// An ECDSA signature, as r and s concatenated, over a SHA1 hash.
    public static let ecdsaSignatureDigestRFC4754SHA1 = Self("algid:sign:ECDSA:digest-RFC4754:SHA1")
    /// An ECDSA signature, as r and s concatenated, over a SHA224 hash.
    public static let ecdsaSignatureDigestRFC4754SHA224 = Self("algid:sign:ECDSA:digest-RFC4754:SHA224")
    /// An ECDSA signature, as r and s concatenated, over a SHA256 hash.
    public static let ecdsaSignatureDigestRFC4754SHA256 = Self("algid:sign:ECDSA:digest-RFC4754:SHA256")
    /// An ECDSA signature, as r and s concatenated, over a SHA384 hash.
    public static let ecdsaSignatureDigestRFC4754SHA384 = Self("algid:sign:ECDSA:digest-RFC4754:SHA384")
    /// An ECDSA signature, as r and s concatenated, over a SHA512 hash.
    public static let ecdsaSignatureDigestRFC4754SHA512 = Self("algid:sign:ECDSA:digest-RFC4754:SHA512")

    // MARK: - Encryption

    /// ECIES with ECDH, ANSI X9.63 key derivation with SHA1, and AES-GCM with a zero IV.
    public static let eciesEncryptionStandardX963SHA1AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM"
    )
    /// ECIES with ECDH, ANSI X9.63 key derivation with SHA224, and AES-GCM with a zero IV.
    public static let eciesEncryptionStandardX963SHA224AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM"
    )
    /// ECIES with ECDH, ANSI X9.63 key derivation with SHA256, and AES-GCM with a zero IV.
    public static let eciesEncryptionStandardX963SHA256AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM"
    )
    /// ECIES with ECDH, ANSI X9.63 key derivation with SHA384, and AES-GCM with a zero IV.
    public static let eciesEncryptionStandardX963SHA384AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM"
    )
    /// ECIES with ECDH, ANSI X9.63 key derivation with SHA512, and AES-GCM with a zero IV.
    public static let eciesEncryptionStandardX963SHA512AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM"
    )
    /// ECIES with ECDH, ANSI X9.63 key derivation with SHA224, and AES-GCM with a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV"
    )
    /// ECIES with ECDH, ANSI X9.63 key derivation with SHA256, and AES-GCM with a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV"
    )
    /// ECIES with ECDH, ANSI X9.63 key derivation with SHA384, and AES-GCM with a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV"
    )
    /// ECIES with ECDH, ANSI X9.63 key derivation with SHA512, and AES-GCM with a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV"
    )
    /// ECIES with ECDHC, ANSI X9.63 key derivation with SHA1, and AES-GCM with a zero IV.
    public static let eciesEncryptionCofactorX963SHA1AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM"
    )
    /// ECIES with ECDHC, ANSI X9.63 key derivation with SHA224, and AES-GCM with a zero IV.
    public static let eciesEncryptionCofactorX963SHA224AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM"
    )
    /// ECIES with ECDHC, ANSI X9.63 key derivation with SHA256, and AES-GCM with a zero IV.
    public static let eciesEncryptionCofactorX963SHA256AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM"
    )
    /// ECIES with ECDHC, ANSI X9.63 key derivation with SHA384, and AES-GCM with a zero IV.
    public static let eciesEncryptionCofactorX963SHA384AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM"
    )
    /// ECIES with ECDHC, ANSI X9.63 key derivation with SHA512, and AES-GCM with a zero IV.
    public static let eciesEncryptionCofactorX963SHA512AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM"
    )
    /// ECIES with ECDHC, ANSI X9.63 key derivation with SHA224, and AES-GCM with a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV"
    )
    /// ECIES with ECDHC, ANSI X9.63 key derivation with SHA256, and AES-GCM with a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV"
    )
    /// ECIES with ECDHC, ANSI X9.63 key derivation with SHA384, and AES-GCM with a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV"
    )
    /// ECIES with ECDHC, ANSI X9.63 key derivation with SHA512, and AES-GCM with a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV"
    )

    // MARK: - Key exchange

    /// An ECDH key exchange that results in the X coordinate.
    public static let ecdhKeyExchangeStandard = Self("algid:keyexchange:ECDH")
    /// An ECDH key exchange, followed by ANSI X9.63 key derivation with SHA1.
    public static let ecdhKeyExchangeStandardX963SHA1 = Self("algid:keyexchange:ECDH:KDFX963:SHA1")
    /// An ECDH key exchange, followed by ANSI X9.63 key derivation with SHA224.
    public static let ecdhKeyExchangeStandardX963SHA224 = Self("algid:keyexchange:ECDH:KDFX963:SHA224")
    /// An ECDH key exchange, followed by ANSI X9.63 key derivation with SHA256.
    public static let ecdhKeyExchangeStandardX963SHA256 = Self("algid:keyexchange:ECDH:KDFX963:SHA256")
    /// An ECDH key exchange, followed by ANSI X9.63 key derivation with SHA384.
    public static let ecdhKeyExchangeStandardX963SHA384 = Self("algid:keyexchange:ECDH:KDFX963:SHA384")
    /// An ECDH key exchange, followed by ANSI X9.63 key derivation with SHA512.
    public static let ecdhKeyExchangeStandardX963SHA512 = Self("algid:keyexchange:ECDH:KDFX963:SHA512")
    /// An ECDHC key exchange that results in the X coordinate.
    public static let ecdhKeyExchangeCofactor = Self("algid:keyexchange:ECDHC")
    /// An ECDHC key exchange, followed by ANSI X9.63 key derivation with SHA1.
    public static let ecdhKeyExchangeCofactorX963SHA1 = Self("algid:keyexchange:ECDHC:KDFX963:SHA1")
    /// An ECDHC key exchange, followed by ANSI X9.63 key derivation with SHA224.
    public static let ecdhKeyExchangeCofactorX963SHA224 = Self("algid:keyexchange:ECDHC:KDFX963:SHA224")
    /// An ECDHC key exchange, followed by ANSI X9.63 key derivation with SHA256.
    public static let ecdhKeyExchangeCofactorX963SHA256 = Self("algid:keyexchange:ECDHC:KDFX963:SHA256")
    /// An ECDHC key exchange, followed by ANSI X9.63 key derivation with SHA384.
    public static let ecdhKeyExchangeCofactorX963SHA384 = Self("algid:keyexchange:ECDHC:KDFX963:SHA384")
    /// An ECDHC key exchange, followed by ANSI X9.63 key derivation with SHA512.
    public static let ecdhKeyExchangeCofactorX963SHA512 = Self("algid:keyexchange:ECDHC:KDFX963:SHA512")
}
