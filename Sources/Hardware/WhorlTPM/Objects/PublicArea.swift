// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2

/// The public areas of the objects that Whorl creates, and the rules for recognizing them.
///
/// Source: TPM 2.0 Library Part 2, 12.2 "Public Area Structures", and 8.3 "TPMA_OBJECT".
enum PublicArea {
    private static let bound = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT

    /// Returns the attributes of an object that is protected only by its policy.
    ///
    /// Changing the object's authorization value or certifying the object also requires a policy that contains that
    /// command, and none of Whorl's policies does.
    ///
    /// - Parameter dictionaryAttack: Whether wrong authorization values count toward the TPM's lockout.
    /// - Returns: The attributes (TPMA_OBJECT).
    private static func guarded(dictionaryAttack: Bool) -> UInt32 {
        bound | TPMA_OBJECT_ADMINWITHPOLICY | (dictionaryAttack ? 0 : TPMA_OBJECT_NODA)
    }

    /// The attributes of the storage root, from the TCG's template.
    static let storageRootAttributes =
        bound | TPMA_OBJECT_SENSITIVEDATAORIGIN | TPMA_OBJECT_USERWITHAUTH
        | TPMA_OBJECT_NODA | TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT

    /// Returns the storage root's template, which describes an ECC P-256 key with AES-128-CFB for its children.
    ///
    /// Source: TCG TPM v2.0 Provisioning Guidance 1.0, 7.5.1, with the template L-2 of the EK Credential Profile 2.x.
    static func storageRoot() -> TPM2B_PUBLIC {
        var area = empty(TPM2_ALG_ECC, attributes: storageRootAttributes)
        area.publicArea.parameters.eccDetail.symmetric.algorithm = TPM2_ALG_AES
        area.publicArea.parameters.eccDetail.symmetric.keyBits.aes = 128
        area.publicArea.parameters.eccDetail.symmetric.mode.aes = TPM2_ALG_CFB
        area.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_NULL
        setCurve(&area)
        // 32 zero bytes each, as in the template.
        area.publicArea.unique.ecc.x.size = 32
        area.publicArea.unique.ecc.y.size = 32
        return area
    }

    /// Returns the template of a signing key (ECC P-256, ECDSA with SHA-256) that can be used only with its policy.
    static func signingKey(policy: PolicyDigest, dictionaryAttack: Bool) throws(TPMError) -> TPM2B_PUBLIC {
        var area = empty(
            TPM2_ALG_ECC,
            attributes: guarded(dictionaryAttack: dictionaryAttack) | TPMA_OBJECT_SENSITIVEDATAORIGIN
                | TPMA_OBJECT_SIGN_ENCRYPT
        )
        area.publicArea.authPolicy = try TPM2B_DIGEST(public: policy.bytes)
        area.publicArea.parameters.eccDetail.symmetric.algorithm = TPM2_ALG_NULL
        area.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_ECDSA
        area.publicArea.parameters.eccDetail.scheme.details.ecdsa.hashAlg = TPM2_ALG_SHA256
        setCurve(&area)
        return area
    }

    /// Returns the template of an ECC P-256 key for signing and key agreement that can be used only with its policy.
    ///
    /// A key for both purposes has no scheme, so each command specifies one (Part 2, 12.2.3.6).
    static func agreementKey(policy: PolicyDigest, dictionaryAttack: Bool) throws(TPMError) -> TPM2B_PUBLIC {
        var area = try signingKey(policy: policy, dictionaryAttack: dictionaryAttack)
        area.publicArea.objectAttributes |= TPMA_OBJECT_DECRYPT
        area.publicArea.parameters.eccDetail.scheme = TPMT_ECC_SCHEME()
        area.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_NULL
        return area
    }

    /// Returns the template of sealed data that can be used only with its policy.
    static func sealed(policy: PolicyDigest, dictionaryAttack: Bool) throws(TPMError) -> TPM2B_PUBLIC {
        // The caller provides the data, so the TPM requires sensitiveDataOrigin to be clear.
        var area = empty(TPM2_ALG_KEYEDHASH, attributes: guarded(dictionaryAttack: dictionaryAttack))
        area.publicArea.authPolicy = try TPM2B_DIGEST(public: policy.bytes)
        area.publicArea.parameters.keyedHashDetail.scheme.scheme = TPM2_ALG_NULL
        return area
    }

    /// Returns the template of an HMAC key whose authorization value other objects' policies require.
    static func authority(dictionaryAttack: Bool) -> TPM2B_PUBLIC {
        var area = empty(
            TPM2_ALG_KEYEDHASH,
            attributes: bound | TPMA_OBJECT_SENSITIVEDATAORIGIN | TPMA_OBJECT_USERWITHAUTH
                | TPMA_OBJECT_SIGN_ENCRYPT | (dictionaryAttack ? 0 : TPMA_OBJECT_NODA)
        )
        area.publicArea.parameters.keyedHashDetail.scheme.scheme = TPM2_ALG_HMAC
        area.publicArea.parameters.keyedHashDetail.scheme.details.hmac.hashAlg = TPM2_ALG_SHA256
        return area
    }

    /// The attributes of an attestation key, which signs only statements from its TPM and does not require an
    /// authorization value.
    static let attestationKeyAttributes =
        bound | TPMA_OBJECT_SENSITIVEDATAORIGIN | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA
        | TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_SIGN_ENCRYPT

    /// Returns the template of an attestation key (ECC P-256, ECDSA with SHA-256, restricted).
    static func attestationKey() -> TPM2B_PUBLIC {
        var area = empty(TPM2_ALG_ECC, attributes: attestationKeyAttributes)
        area.publicArea.parameters.eccDetail.symmetric.algorithm = TPM2_ALG_NULL
        area.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_ECDSA
        area.publicArea.parameters.eccDetail.scheme.details.ecdsa.hashAlg = TPM2_ALG_SHA256
        setCurve(&area)
        return area
    }

    /// Returns the template of the endorsement key that the manufacturer's certificate is for.
    ///
    /// Source: TCG EK Credential Profile 2.x, templates L-2 and L-1, and B.6.2 "PolicyA" for the policy.
    static func endorsementKey(_ kind: EndorsementKind) throws(TPMError) -> TPM2B_PUBLIC {
        var area = kind == .p256 ? storageRoot() : storageRSA()
        area.publicArea.objectAttributes =
            bound | TPMA_OBJECT_SENSITIVEDATAORIGIN | TPMA_OBJECT_ADMINWITHPOLICY | TPMA_OBJECT_RESTRICTED
            | TPMA_OBJECT_DECRYPT
        area.publicArea.authPolicy = try TPM2B_DIGEST(public: [
            0x83, 0x71, 0x97, 0x67, 0x44, 0x84, 0xb3, 0xf8, 0x1a, 0x90, 0xcc, 0x8d, 0x46, 0xa5, 0xd7, 0x24,
            0xfd, 0x52, 0xd7, 0x6e, 0x06, 0x52, 0x0b, 0x64, 0xf2, 0xa1, 0xda, 0x1b, 0x33, 0x14, 0x69, 0xaa,
        ])
        return area
    }

    private static func storageRSA() -> TPM2B_PUBLIC {
        var area = empty(TPM2_ALG_RSA, attributes: storageRootAttributes)
        area.publicArea.parameters.rsaDetail.symmetric.algorithm = TPM2_ALG_AES
        area.publicArea.parameters.rsaDetail.symmetric.keyBits.aes = 128
        area.publicArea.parameters.rsaDetail.symmetric.mode.aes = TPM2_ALG_CFB
        area.publicArea.parameters.rsaDetail.scheme.scheme = TPM2_ALG_NULL
        area.publicArea.parameters.rsaDetail.keyBits = 2048
        // 256 zero bytes, as in the template.
        area.publicArea.unique.rsa.size = 256
        return area
    }

    private static func empty(_ type: TPM2_ALG_ID, attributes: UInt32) -> TPM2B_PUBLIC {
        var area = TPM2B_PUBLIC()
        area.publicArea.type = type
        area.publicArea.nameAlg = TPM2_ALG_SHA256
        area.publicArea.objectAttributes = attributes
        return area
    }

    private static func setCurve(_ area: inout TPM2B_PUBLIC) {
        area.publicArea.parameters.eccDetail.curveID = TPM2_ECC_NIST_P256
        area.publicArea.parameters.eccDetail.kdf.scheme = TPM2_ALG_NULL
    }

    /// Returns whether a key can be used as the storage root because it matches the template, no matter who created it.
    static func fitsStorageRoot(_ area: TPMT_PUBLIC) -> Bool {
        let detail = area.parameters.eccDetail
        return area.type == TPM2_ALG_ECC && area.nameAlg == TPM2_ALG_SHA256
            && area.objectAttributes == storageRootAttributes && area.authPolicy.size == 0
            && detail.curveID == TPM2_ECC_NIST_P256 && detail.symmetric.algorithm == TPM2_ALG_AES
            && detail.symmetric.keyBits.aes == 128 && detail.symmetric.mode.aes == TPM2_ALG_CFB
    }
}
