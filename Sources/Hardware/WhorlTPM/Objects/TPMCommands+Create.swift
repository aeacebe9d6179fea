// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
package import WhorlSecretMemory

/// A type of object to create with a policy.
package enum NewObject: Sendable {
    /// A secret of 1 to 128 bytes, which the TPM can return.
    case sealed(SecretBox)
    /// A P-256 key for signing.
    case signingKey
    /// A P-256 key for signing and key agreement.
    case agreementKey
}

extension TPMCommands {
    /// The maximum size of a sealed secret, in bytes.
    package static let largestSealedSecret = 128

    /// Creates an HMAC key whose authorization value policies can require.
    ///
    /// - Parameters:
    ///   - root: The key's parent.
    ///   - auth: The authorization value, 1 to 32 bytes. Trailing zeros do not count, because the TPM drops them.
    ///   - dictionaryAttack: Whether wrong values count toward the TPM's lockout.
    /// - Returns: The object, which is not loaded.
    /// - Throws: ``TPMError/Code-swift.enum/foreignRoot`` if the response does not come from the pinned root, and the
    ///   errors of any command.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_Create.
    package func createAuthority(
        under root: StorageRoot,
        auth: SecretBox,
        dictionaryAttack: Bool
    ) throws(TPMError) -> TPMObject {
        let template = PublicArea.authority(dictionaryAttack: dictionaryAttack)
        return try createWithTicket(template, under: root, auth: auth).object
    }

    /// Creates an object that can be used only if a policy is satisfied.
    ///
    /// - Parameters:
    ///   - new: The type of object.
    ///   - root: The object's parent.
    ///   - policy: The digest of the policy.
    ///   - auth: The object's own authorization value, at most 32 bytes, for ``TPMPolicy/authValue``.
    ///   - dictionaryAttack: Whether wrong values of `auth` count toward the TPM's lockout. It has no effect without
    ///     `auth`.
    /// - Returns: The object, which is not loaded.
    /// - Throws: ``TPMError/Code-swift.enum/tooLarge`` if a secret is empty or too large, and the errors of
    ///   ``createAuthority(under:auth:dictionaryAttack:)``.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_Create.
    package func create(
        _ new: NewObject,
        under root: StorageRoot,
        policy: PolicyDigest,
        auth: SecretBox? = nil,
        dictionaryAttack: Bool = true
    ) throws(TPMError) -> TPMObject {
        let counted = dictionaryAttack && auth != nil
        let template: TPM2B_PUBLIC
        var data: SecretBox?
        switch new {
        case .sealed(let secret):
            guard 1...Self.largestSealedSecret ~= secret.bytes.count else { throw TPMError(.tooLarge) }
            template = try PublicArea.sealed(policy: policy, dictionaryAttack: counted)
            data = secret
        case .signingKey: template = try PublicArea.signingKey(policy: policy, dictionaryAttack: counted)
        case .agreementKey: template = try PublicArea.agreementKey(policy: policy, dictionaryAttack: counted)
        }
        return try createWithTicket(template, under: root, auth: auth, data: data).object
    }

    /// Changes the authorization value of an authority.
    ///
    /// The name is unchanged, so policies that require the authority stay valid. The old blob also stays valid with the
    /// old value, so the caller must delete it.
    ///
    /// - Parameters:
    ///   - object: The authority, of which a new blob is returned.
    ///   - root: The authority's parent.
    ///   - old: The current value.
    ///   - new: The new value, 1 to 32 bytes.
    /// - Returns: The object with the new value. It is not loaded.
    /// - Throws: ``TPMError/Code-swift.enum/authFailed``, ``TPMError/Code-swift.enum/lockout(seconds:)`` and the errors
    ///   of any command.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_ObjectChangeAuth.
    package func changeAuth(
        of object: TPMObject,
        under root: StorageRoot,
        from old: SecretBox,
        to new: SecretBox
    ) throws(TPMError) -> TPMObject {
        let privateBlob: [UInt8] = try connection.withSequence(root) { (parent) throws(TPMError) in
            let loaded = try LoadedObject(object, under: parent, on: connection)
            var session = try Session(.hmac, saltedTo: parent, on: connection)
            return try connection.withAuth(old.bytes, of: loaded.handle) { () throws(TPMError) in
                try connection.changeAuth(of: loaded.handle, parent: parent, to: new, by: &session)
            }
        }
        // The loaded object has the old value and is no longer needed.
        connection.cache.flush(object, on: connection)
        return try TPMObject(object, privateBlob: privateBlob)
    }

    /// Creates an object and returns it together with the TPM's creation ticket.
    func createWithTicket(
        _ template: TPM2B_PUBLIC,
        under root: StorageRoot,
        auth: SecretBox?,
        data: SecretBox? = nil
    ) throws(TPMError) -> CreatedObject {
        try connection.withSequence(root) { (parent) throws(TPMError) in
            var session = try Session(.hmac, saltedTo: parent, on: connection)
            do throws(TPMError) {
                return try connection.create(template, under: parent, by: &session, auth: auth, data: data)
            } catch {
                // The root's authorization value is empty, so a wrong HMAC means that another key decrypted the salt.
                throw error.code == .authFailed ? error.told(as: .foreignRoot) : error
            }
        }
    }
}

extension Connection {
    fileprivate func create(
        _ template: TPM2B_PUBLIC,
        under parent: ESYS_TR,
        by session: inout Session,
        auth: SecretBox?,
        data: SecretBox?
    ) throws(TPMError) -> CreatedObject {
        var privateArea: UnsafeMutablePointer<TPM2B_PRIVATE>?
        var publicArea: UnsafeMutablePointer<TPM2B_PUBLIC>?
        var creationHash: UnsafeMutablePointer<TPM2B_DIGEST>?
        var ticket: UnsafeMutablePointer<TPMT_TK_CREATION>?
        defer {
            CMemory.release(privateArea)
            CMemory.release(publicArea)
            CMemory.release(creationHash)
            CMemory.release(ticket)
        }
        try CMemory.withSecret(TPM2B_SENSITIVE_CREATE.self) { (sensitive) throws(TPMError) in
            try sensitive.fill(auth: auth, data: data)
            try session.spend(.encryptsCommand) { (session) throws(TPMError) in
                var template = template
                var outside = TPM2B_DATA()
                var registers = TPML_PCR_SELECTION()
                try call("TPM2_Create") {
                    Esys_Create(
                        $0,
                        parent,
                        session,
                        Fixed.none,
                        Fixed.none,
                        sensitive,
                        &template,
                        &outside,
                        &registers,
                        &privateArea,
                        &publicArea,
                        nil,
                        &creationHash,
                        &ticket
                    )
                }
            }
        }
        guard let privateArea, let publicArea, let creationHash, let ticket else {
            throw TPMError(.other, command: "TPM2_Create", cause: "success without a value")
        }
        return CreatedObject(
            object: try TPMObject(publicArea, privateArea),
            creationHash: creationHash.pointee,
            ticket: ticket.pointee
        )
    }

    fileprivate func changeAuth(
        of object: ESYS_TR,
        parent: ESYS_TR,
        to new: SecretBox,
        by session: inout Session
    ) throws(TPMError) -> [UInt8] {
        var privateArea: UnsafeMutablePointer<TPM2B_PRIVATE>?
        defer { CMemory.release(privateArea) }
        try CMemory.withSecret(TPM2B_AUTH.self) { (value) throws(TPMError) in
            try value.fill(auth: new.bytes)
            try session.spend(.encryptsCommand) { (session) throws(TPMError) in
                try call("TPM2_ObjectChangeAuth") {
                    Esys_ObjectChangeAuth(
                        $0,
                        object,
                        parent,
                        session,
                        Fixed.none,
                        Fixed.none,
                        value,
                        &privateArea
                    )
                }
            }
        }
        guard let privateArea else {
            throw TPMError(.other, command: "TPM2_ObjectChangeAuth", cause: "success without a value")
        }
        return try Marshalling.bytes(Tss2_MU_TPM2B_PRIVATE_Marshal, of: privateArea)
    }
}

extension UnsafeMutablePointer<TPM2B_SENSITIVE_CREATE> {
    /// Copies both secrets into the structure.
    fileprivate func fill(auth: SecretBox?, data: SecretBox?) throws(TPMError) {
        if let auth {
            guard let place = pointer(to: \.sensitive.userAuth) else {
                preconditionFailure("a stored property")
            }
            try place.fill(auth: auth.bytes)
        }
        if let data {
            try data.bytes.withUnsafeBytes { (bytes) throws(TPMError) in
                try Sized.fill(&pointee.sensitive.data.buffer, &pointee.sensitive.data.size, with: bytes)
            }
        }
    }
}
