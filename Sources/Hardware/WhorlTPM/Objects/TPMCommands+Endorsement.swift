// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
package import WhorlSecretMemory

/// Commands that concern the identity of the TPM.
extension TPMCommands {
    /// Returns the endorsement key and its certificate, or `nil` if the TPM contains no certificate.
    ///
    /// P-256 is preferred over RSA. Unless the key is stored in the TPM, it is created again from the TCG's template
    /// and not left there. It identifies the machine for the lifetime of the TPM.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/unsupported`` if the endorsement hierarchy has an authorization value, and
    ///   the errors of any command.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_CreatePrimary; TCG EK Credential Profile 2.x, 2.2.1.4 and B.3.
    package func endorsement() throws(TPMError) -> Endorsement? {
        for kind in EndorsementKind.allCases {
            guard let certificate = try connection.certificate(at: kind.certificateIndex) else { continue }
            return try connection.sequence { () throws(TPMError) in
                let key = try EndorsementKey(kind, on: connection)
                return Endorsement(publicArea: try key.publicArea(), certificate: certificate)
            }
        }
        return nil
    }

    /// Decrypts the secret of a credential that was created for this TPM and an attestation key.
    ///
    /// - Parameters:
    ///   - credential: The integrity HMAC and the encrypted secret (TPMS_ID_OBJECT).
    ///   - seed: The seed used for encryption, which is an ephemeral point (TPMS_ECC_POINT), or the encrypted seed in
    ///     the case of RSA.
    ///   - kind: The type of endorsement key that the credential was created for.
    ///   - key: The attestation key.
    ///   - root: The attestation key's parent.
    /// - Returns: The secret, at most 32 bytes long. It is encrypted on the bus.
    /// - Throws: ``TPMError/Code-swift.enum/foreignBlob`` if the credential is for another TPM or another key, and the
    ///   errors of any command.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_ActivateCredential.
    package func activate(
        credential: [UInt8],
        seed: [UInt8],
        to kind: EndorsementKind,
        for key: TPMObject,
        under root: StorageRoot
    ) throws(TPMError) -> SecretBytes {
        try connection.withSequence(root) { (root) throws(TPMError) in
            // A TPM may have only three slots, and the endorsement key needs one of the cache's.
            connection.cache.flushIdle(on: connection)
            let loaded = try LoadedObject(key, under: root, on: connection)
            let endorsement = try EndorsementKey(kind, on: connection)
            var session = try Session(.policy, saltedTo: root, on: connection)
            try connection.showEndorsement(to: session.handle)
            return try session.spend(.encryptsResponse) { (session) throws(TPMError) in
                try connection.activate(credential, seed, loaded.handle, endorsement.handle, session)
            }
        }
    }
}

extension Connection {
    /// The maximum size of a certificate, in bytes.
    private static let largestCertificate = 4096
    /// The number of bytes per read, which every TPM supports.
    private static let chunk: UInt16 = 512

    fileprivate func certificate(at index: UInt32) throws(TPMError) -> [UInt8]? {
        do throws(TPMError) {
            return try withPublic(index) { (index) throws(TPMError) in
                let size = try publicArea(ofIndex: index).dataSize
                guard size <= Self.largestCertificate else { return nil }
                var bytes: [UInt8] = []
                while bytes.count < size {
                    let count = min(Self.chunk, size - UInt16(bytes.count))
                    bytes += try read(count, at: UInt16(bytes.count), of: index)
                }
                return Self.certificate(atFrontOf: bytes)
            }
        } catch {
            guard error.saysMissingHandle || error.code == .nvUnwritten else { throw error }
            return nil
        }
    }

    /// Returns the certificate without any data that the manufacturer appended, or `nil` if there is no certificate.
    private static func certificate(atFrontOf bytes: [UInt8]) -> [UInt8]? {
        // SEQUENCE, with a length in two bytes.
        guard bytes.count > 4, bytes[0] == 0x30, bytes[1] == 0x82 else { return nil }
        let end = 4 + Int(bytes[2]) << 8 + Int(bytes[3])
        return end <= bytes.count ? Array(bytes[..<end]) : nil
    }

    private func read(_ count: UInt16, at offset: UInt16, of index: ESYS_TR) throws(TPMError) -> [UInt8] {
        var data: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
        // The index is read with its empty authorization value, which is not a secret.
        try call("TPM2_NV_Read") {
            Esys_NV_Read($0, index, index, Fixed.password, Fixed.none, Fixed.none, count, offset, &data)
        }
        let bytes = try CMemory.take(data, of: "TPM2_NV_Read") {
            Sized.bytes($0.pointee.buffer, $0.pointee.size)
        }
        guard bytes.count == count else {
            throw TPMError(.other, command: "TPM2_NV_Read", cause: "a different number of bytes")
        }
        return bytes
    }

    /// Satisfies the policy of endorsement keys with the endorsement hierarchy's empty authorization value.
    fileprivate func showEndorsement(to policy: ESYS_TR) throws(TPMError) {
        try call("TPM2_PolicySecret") {
            Esys_PolicySecret(
                $0,
                Fixed.endorsement,
                policy,
                Fixed.password,
                Fixed.none,
                Fixed.none,
                nil,
                nil,
                nil,
                0,
                nil,
                nil
            )
        }
    }

    fileprivate func activate(
        _ credential: [UInt8],
        _ seed: [UInt8],
        _ key: ESYS_TR,
        _ endorsement: ESYS_TR,
        _ session: ESYS_TR
    ) throws(TPMError) -> SecretBytes {
        var blob = TPM2B_ID_OBJECT()
        try credential.span.bytes.withUnsafeBytes { (bytes) throws(TPMError) in
            try Sized.fill(&blob.credential, &blob.size, with: bytes)
        }
        var encrypted = TPM2B_ENCRYPTED_SECRET()
        try seed.span.bytes.withUnsafeBytes { (bytes) throws(TPMError) in
            try Sized.fill(&encrypted.secret, &encrypted.size, with: bytes)
        }
        var secret: UnsafeMutablePointer<TPM2B_DIGEST>?
        do throws(TPMError) {
            try call("TPM2_ActivateCredential") {
                Esys_ActivateCredential(
                    $0,
                    key,
                    endorsement,
                    Fixed.password,
                    session,
                    Fixed.none,
                    &blob,
                    &encrypted,
                    &secret
                )
            }
        } catch {
            if case .parameter = error.faultyPart { throw error.told(as: .foreignBlob) }
            throw error
        }
        return try CMemory.take(secret, of: "TPM2_ActivateCredential") { secret in
            SecretBytes(copying: secret.pointee.buffer, count: secret.pointee.size)
        }
    }
}
