// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
package import WhorlSecretMemory

/// The result of checking an authorization value.
package enum AuthVerdict: Sendable, Hashable {
    /// The value is correct.
    case right
    /// The value is wrong. The TPM has counted the attempt if the object requires it.
    case wrong
    /// The TPM is locked out and did not check the value.
    case lockedOut
}

/// An ECDSA signature on P-256.
package struct ECDSASignature: Sendable, Hashable {
    /// The two numbers, 32 bytes each, big-endian.
    package let r, s: [UInt8]

    /// Both numbers as 64 bytes.
    package var raw: [UInt8] { r + s }

    /// Parses a signature in the TPM's format, or returns `nil` if it is not a P-256 signature.
    init?(_ signature: TPMT_SIGNATURE) {
        guard signature.sigAlg == TPM2_ALG_ECDSA else { return nil }
        let ecdsa = signature.signature.ecdsa
        guard let r = padded(Sized.bytes(ecdsa.signatureR.buffer, ecdsa.signatureR.size), to: 32),
            let s = padded(Sized.bytes(ecdsa.signatureS.buffer, ecdsa.signatureS.size), to: 32)
        else { return nil }
        self.r = r
        self.s = s
    }
}

extension TPMCommands {
    /// Signs a digest with a key after satisfying the key's policy.
    ///
    /// With PolicySecret and PolicyNV, it requires 4 commands if the authority, the key and the session are already
    /// loaded, and 7 otherwise.
    ///
    /// - Parameters:
    ///   - digest: A SHA-256 digest (32 bytes).
    ///   - key: A signing key.
    ///   - root: The key's parent.
    ///   - policy: The policy whose digest is in the key.
    ///   - credentials: The credentials that satisfy the policy.
    /// - Returns: The signature, which is not verified.
    /// - Throws: ``TPMError/Code-swift.enum/policyFailed`` if the TPM refuses,
    ///   ``TPMError/Code-swift.enum/missingCredential``, ``TPMError/Code-swift.enum/foreignBlob``, and the errors of
    ///   any command.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_Sign.
    package func sign(
        digest: [UInt8],
        with key: TPMObject,
        under root: StorageRoot,
        meeting policy: TPMPolicy,
        with credentials: Credentials
    ) throws(TPMError) -> ECDSASignature {
        guard digest.count == 32 else { throw TPMError(.tooLarge, cause: "a digest of 32 bytes is signed") }
        return try connection.use(key, under: root, meeting: policy, with: credentials, encrypting: []) {
            (key, session) throws(TPMError) in
            try connection.sign(digest, with: key, session: session)
        }
    }

    /// Returns a sealed secret after satisfying its policy.
    ///
    /// The secret is encrypted on the bus.
    ///
    /// It requires the same number of commands as ``sign(digest:with:under:meeting:with:)``.
    ///
    /// - Parameters:
    ///   - object: A sealed secret.
    ///   - root: The object's parent.
    ///   - policy: The policy whose digest is in the object.
    ///   - credentials: The credentials that satisfy the policy.
    /// - Returns: The secret.
    /// - Throws: The errors of ``sign(digest:with:under:meeting:with:)``.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_Unseal.
    package func unseal(
        _ object: TPMObject,
        under root: StorageRoot,
        meeting policy: TPMPolicy,
        with credentials: Credentials
    ) throws(TPMError) -> SecretBytes {
        try connection.use(
            object,
            under: root,
            meeting: policy,
            with: credentials,
            encrypting: .encryptsResponse
        ) { (object, session) throws(TPMError) in
            try connection.unseal(object, session: session)
        }
    }

    /// Returns the HMAC-SHA-256 of data with an authority's key, which never leaves the TPM.
    ///
    /// - Parameters:
    ///   - data: At most 1,024 bytes of data, which are encrypted on the bus like the result.
    ///   - object: The authority.
    ///   - root: The authority's parent.
    ///   - auth: The authority's authorization value.
    /// - Returns: The HMAC (32 bytes).
    /// - Throws: ``TPMError/Code-swift.enum/authFailed``, ``TPMError/Code-swift.enum/lockout(seconds:)`` and the errors
    ///   of any command.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_HMAC.
    package func hmac(
        _ data: [UInt8],
        with object: TPMObject,
        under root: StorageRoot,
        auth: SecretBox
    ) throws(TPMError) -> SecretBytes {
        guard data.count <= 1024 else { throw TPMError(.tooLarge) }
        return try connection.withSequence(root) { (root) throws(TPMError) in
            connection.cache.announce([object.name])
            let loaded = try LoadedObject(object, under: root, on: connection)
            var session = try Session(.hmac, saltedTo: root, on: connection)
            return try connection.withAuth(auth.bytes, of: loaded.handle) { () throws(TPMError) in
                try connection.hmac(data, with: loaded.handle, by: &session)
            }
        }
    }

    /// Checks with the TPM whether an authorization value is correct for an object.
    ///
    /// - Parameters:
    ///   - auth: The value.
    ///   - object: An authority.
    ///   - root: The authority's parent.
    /// - Returns: The result.
    /// - Throws: The errors of any command, except those for a wrong value and a lockout, which are returned as
    ///   results.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_HMAC.
    package func verify(
        _ auth: SecretBox,
        of object: TPMObject,
        under root: StorageRoot
    ) throws(TPMError) -> AuthVerdict {
        do throws(TPMError) {
            _ = try hmac([], with: object, under: root, auth: auth)
            return .right
        } catch {
            switch error.code {
            case .authFailed: return .wrong
            case .lockout: return .lockedOut
            default: throw error
            }
        }
    }

    /// Loads an object and releases it again to check that it belongs to this TPM.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/foreignBlob`` if the object does not belong to this TPM.
    package func load(_ object: TPMObject, under root: StorageRoot) throws(TPMError) {
        try connection.withSequence(root) { (root) throws(TPMError) in
            _ = try LoadedObject(object, under: root, on: connection)
        }
    }
}

extension Connection {
    /// Satisfies a policy, loads the object and runs a command on the object with that policy session, all in one
    /// sequence.
    func use<Value: ~Copyable>(
        _ object: TPMObject,
        under root: StorageRoot,
        meeting policy: TPMPolicy,
        with credentials: Credentials,
        encrypting use: Session.Use,
        _ command: (_ object: ESYS_TR, _ session: ESYS_TR) throws(TPMError) -> Value
    ) throws(TPMError) -> Value {
        try withSequence(root) { (root) throws(TPMError) in
            var session = try session(meeting: policy, with: credentials, root: root, needed: object.name)
            let loaded = try LoadedObject(object, under: root, on: self)
            guard let auth = credentials.authValue else {
                return try session.spend(use) { (session) throws(TPMError) in
                    try command(loaded.handle, session)
                }
            }
            return try withAuth(auth.bytes, of: loaded.handle) { () throws(TPMError) in
                try session.spend(use) { (session) throws(TPMError) in try command(loaded.handle, session) }
            }
        }
    }

    fileprivate func sign(_ digest: [UInt8], with key: ESYS_TR, session: ESYS_TR) throws(TPMError)
        -> ECDSASignature
    {
        var digest = try TPM2B_DIGEST(public: digest)
        var scheme = TPMT_SIG_SCHEME()
        scheme.scheme = TPM2_ALG_ECDSA
        scheme.details.ecdsa.hashAlg = TPM2_ALG_SHA256
        // An unrestricted key signs any digest; this ticket states that the TPM did not compute it.
        var ticket = TPMT_TK_HASHCHECK()
        ticket.tag = TPM2_ST_HASHCHECK
        ticket.hierarchy = TPM2_RH_NULL
        var signature: UnsafeMutablePointer<TPMT_SIGNATURE>?
        try call("TPM2_Sign") {
            Esys_Sign($0, key, session, Fixed.none, Fixed.none, &digest, &scheme, &ticket, &signature)
        }
        let numbers = try CMemory.take(signature, of: "TPM2_Sign") { ECDSASignature($0.pointee) }
        guard let numbers else { throw TPMError(.other, command: "TPM2_Sign", cause: "no P-256 signature") }
        return numbers
    }

    fileprivate func unseal(_ object: ESYS_TR, session: ESYS_TR) throws(TPMError) -> SecretBytes {
        var data: UnsafeMutablePointer<TPM2B_SENSITIVE_DATA>?
        try call("TPM2_Unseal") { Esys_Unseal($0, object, session, Fixed.none, Fixed.none, &data) }
        return try CMemory.take(data, of: "TPM2_Unseal") { data in
            SecretBytes(copying: data.pointee.buffer, count: data.pointee.size)
        }
    }

    fileprivate func hmac(
        _ data: [UInt8],
        with object: ESYS_TR,
        by session: inout Session
    ) throws(TPMError) -> SecretBytes {
        var result: UnsafeMutablePointer<TPM2B_DIGEST>?
        var buffer = TPM2B_MAX_BUFFER()
        try data.span.bytes.withUnsafeBytes { (bytes) throws(TPMError) in
            try Sized.fill(&buffer.buffer, &buffer.size, with: bytes)
        }
        try session.spend([.encryptsCommand, .encryptsResponse]) { (session) throws(TPMError) in
            try call("TPM2_HMAC") {
                Esys_HMAC($0, object, session, Fixed.none, Fixed.none, &buffer, TPM2_ALG_SHA256, &result)
            }
        }
        return try CMemory.take(result, of: "TPM2_HMAC") { result in
            SecretBytes(copying: result.pointee.buffer, count: result.pointee.size)
        }
    }
}

extension SecretBytes {
    /// Copies the front of a buffer in one of the TPM's structures.
    ///
    /// The structure's owner must wipe the buffer.
    init<Buffer>(copying buffer: borrowing Buffer, count: UInt16) {
        self = Swift.withUnsafeBytes(of: buffer) { bytes in
            SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(count))).bytes)
        }
    }
}
