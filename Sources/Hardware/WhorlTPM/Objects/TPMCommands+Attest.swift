// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
package import WhorlSecretMemory

/// Statements of the TPM about the keys that it has made.
extension TPMCommands {
    /// Makes a key that signs only what its TPM states; it needs no value and no policy.
    ///
    /// - Throws: As ``createAuthority(under:auth:dictionaryAttack:)``.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_Create.
    package func createAttestationKey(under root: StorageRoot) throws(TPMError) -> TPMObject {
        try createWithTicket(PublicArea.attestationKey(), under: root, auth: nil).object
    }

    /// Makes a P-256 key as an agreement key of ``create(_:under:policy:auth:dictionaryAttack:)``, which
    /// ``certify(_:by:under:repeating:)`` can make a statement about.
    ///
    /// - Throws: As ``createAuthority(under:auth:dictionaryAttack:)``.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_Create.
    package func createCertifiableKey(
        under root: StorageRoot,
        policy: PolicyDigest,
        auth: SecretBox? = nil
    ) throws(TPMError) -> CreatedObject {
        let template = try PublicArea.agreementKey(policy: policy, dictionaryAttack: auth != nil)
        return try createWithTicket(template, under: root, auth: auth)
    }

    /// Has the TPM state that it has made an object.
    ///
    /// The object's own policy is not asked for. TPM2_Certify would ask for it: it takes a policy that names that command, and none of Whorl's does.
    ///
    /// - Parameters:
    ///   - created: The object.
    ///   - key: The attestation key.
    ///   - root: The parent of both.
    ///   - data: Bytes that the statement repeats, at most 64.
    /// - Returns: The statement, signed.
    /// - Throws: What any command throws.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_CertifyCreation.
    package func certify(
        _ created: CreatedObject,
        by key: TPMObject,
        under root: StorageRoot,
        repeating data: [UInt8]
    ) throws(TPMError) -> SignedStatement {
        try connection.withSequence(root) { (root) throws(TPMError) in
            connection.cache.announce([key.name, created.object.name])
            let signer = try LoadedObject(key, under: root, on: connection)
            let object = try LoadedObject(created.object, under: root, on: connection)
            return try connection.certify(created, object.handle, by: signer.handle, data)
        }
    }
}

extension Connection {
    fileprivate func certify(
        _ created: CreatedObject,
        _ object: ESYS_TR,
        by signer: ESYS_TR,
        _ data: [UInt8]
    ) throws(TPMError) -> SignedStatement {
        let command = "TPM2_CertifyCreation"
        var extra = TPM2B_DATA()
        try data.span.bytes.withUnsafeBytes { (bytes) throws(TPMError) in
            try Sized.fill(&extra.buffer, &extra.size, with: bytes)
        }
        var (hash, ticket) = (created.creationHash, created.ticket)
        var scheme = TPMT_SIG_SCHEME()
        scheme.scheme = TPM2_ALG_NULL
        var statement: UnsafeMutablePointer<TPM2B_ATTEST>?
        var signature: UnsafeMutablePointer<TPMT_SIGNATURE>?
        defer {
            CMemory.release(statement)
            CMemory.release(signature)
        }
        try call(command) {
            Esys_CertifyCreation(
                $0,
                signer,
                object,
                Fixed.password,
                Fixed.none,
                Fixed.none,
                &extra,
                &hash,
                &scheme,
                &ticket,
                &statement,
                &signature
            )
        }
        guard let statement, let signature, let numbers = ECDSASignature(signature.pointee) else {
            throw TPMError(.other, command: command, cause: "no P-256 signature")
        }
        return SignedStatement(
            statement: Sized.bytes(statement.pointee.attestationData, statement.pointee.size),
            signature: numbers
        )
    }
}

/// A new object, and the TPM's ticket that it has made it, which is good until the TPM is cleared.
package struct CreatedObject: Sendable {
    /// The object; it is not loaded.
    package let object: TPMObject
    let creationHash: TPM2B_DIGEST
    let ticket: TPMT_TK_CREATION
}

/// A statement of a TPM, and its signature.
package struct SignedStatement: Sendable, Hashable {
    /// The statement as TPMS_ATTEST.
    package let statement: [UInt8]
    /// The signature over it.
    package let signature: ECDSASignature
}
