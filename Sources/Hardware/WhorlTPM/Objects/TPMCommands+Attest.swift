// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
package import WhorlSecretMemory

/// Commands for the attestation of keys by the TPM that created them.
extension TPMCommands {
    /// Creates an attestation key, which signs only statements from its TPM and does not require an authorization value
    /// or a policy.
    ///
    /// - Throws: The errors of ``createAuthority(under:auth:dictionaryAttack:)``.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_Create.
    package func createAttestationKey(under root: StorageRoot) throws(TPMError) -> TPMObject {
        try createWithTicket(PublicArea.attestationKey(), under: root, auth: nil).object
    }

    /// Creates the same kind of P-256 key as an agreement key created by
    /// ``create(_:under:policy:auth:dictionaryAttack:)``, but for use with ``certify(_:by:under:repeating:)``.
    ///
    /// - Throws: The errors of ``createAuthority(under:auth:dictionaryAttack:)``.
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

    /// Returns the TPM's signed statement that it created an object.
    ///
    /// This command does not require the object's policy to be satisfied. TPM2_Certify would require a policy that
    /// contains that command, and none of Whorl's policies does.
    ///
    /// - Parameters:
    ///   - created: The object.
    ///   - key: The attestation key.
    ///   - root: The parent of both keys.
    ///   - data: Bytes to include in the statement, at most 64.
    /// - Returns: The signed statement.
    /// - Throws: The errors of any command.
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

/// A new object and the TPM's creation ticket, which is valid until the TPM is cleared.
package struct CreatedObject: Sendable {
    /// The object, which is not loaded.
    package let object: TPMObject
    let creationHash: TPM2B_DIGEST
    let ticket: TPMT_TK_CREATION
}

/// A statement from a TPM, and its signature.
package struct SignedStatement: Sendable, Hashable {
    /// The statement as a TPMS_ATTEST.
    package let statement: [UInt8]
    /// The signature over the statement.
    package let signature: ECDSASignature
}
