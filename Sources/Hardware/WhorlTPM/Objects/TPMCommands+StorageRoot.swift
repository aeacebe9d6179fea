// SPDX-License-Identifier: Apache-2.0

internal import CWhorlTSS2
internal import WhorlSecretMemory

/// The result of checking the pinned storage root.
package enum StorageRootCheck: Sendable, Hashable {
    /// The pinned key is at its handle.
    case same
    /// Another key is at its handle.
    case other
    /// No key is at its handle.
    case missing
}

extension TPMCommands {
    /// Finds a suitable storage root, or creates one and makes it persistent.
    ///
    /// The handle 0x81000001 is used if it is free or belongs to an ECC P-256 key that matches the TCG's template. Any
    /// other key there stays unchanged, and one of Whorl's handles is used instead. This is done only once, because the
    /// pinned root requires no further commands.
    ///
    /// - Returns: The root, which the caller must store in its serialized form.
    /// - Throws: ``TPMError/Code-swift.enum/ownerAuthNeeded``, ``TPMError/Code-swift.enum/nvSpace`` and the errors of
    ///   any command.
    ///
    /// Source: TPM 2.0 Library Part 3, TPM2_ReadPublic, TPM2_CreatePrimary, TPM2_EvictControl.
    package func findOrMakeStorageRoot() throws(TPMError) -> StorageRoot {
        if let root = try findStorageRoot() { return root }
        let taken = try Set(handles(.persistent))
        let candidates = [StorageRoot.commonHandle] + StorageRoot.ownHandles
        guard let handle = candidates.first(where: { !taken.contains($0) }) else { throw TPMError(.nvSpace) }
        return try makeStorageRoot(at: handle)
    }

    /// Returns a suitable storage root, or `nil` if none exists.
    package func findStorageRoot() throws(TPMError) -> StorageRoot? {
        let present = try Set(handles(.persistent))
        for handle in [StorageRoot.commonHandle] + StorageRoot.ownHandles where present.contains(handle) {
            if let root = try readStorageRoot(at: handle) { return root }
        }
        return nil
    }

    /// Checks with one command whether the TPM still has this root.
    package func check(_ root: StorageRoot) throws(TPMError) -> StorageRootCheck {
        do throws(TPMError) {
            return try connection.withPublic(root.handle) { (object) throws(TPMError) in
                try connection.name(of: object)
            } == root.name ? .same : .other
        } catch {
            guard error.saysMissingHandle else { throw error }
            return .missing
        }
    }

    private func readStorageRoot(at handle: UInt32) throws(TPMError) -> StorageRoot? {
        guard try connection.publicArea(at: handle).map(PublicArea.fitsStorageRoot) == true else {
            return nil
        }
        return try connection.withPublic(handle) { (object) throws(TPMError) in
            try connection.pin(object, at: handle)
        }
    }

    private func makeStorageRoot(at handle: UInt32) throws(TPMError) -> StorageRoot {
        try connection.asOwner { () throws(TPMError) in
            let primary = try connection.createPrimary(PublicArea.storageRoot(), in: Fixed.owner)
            defer { connection.flush(primary) }
            var persistent = Fixed.none
            try connection.call("TPM2_EvictControl") {
                Esys_EvictControl(
                    $0,
                    Fixed.owner,
                    primary,
                    Fixed.password,
                    Fixed.none,
                    Fixed.none,
                    handle,
                    &persistent
                )
            }
            defer { connection.close(persistent) }
            return try connection.pin(persistent, at: handle)
        }
    }
}

extension Connection {
    fileprivate func pin(_ object: ESYS_TR, at handle: UInt32) throws(TPMError) -> StorageRoot {
        StorageRoot(handle: handle, name: try name(of: object), resource: try serialize(object))
    }

    /// Calls `body` with the handle of a persistent object or NV index and its current public area (TPM2_ReadPublic).
    func withPublic<Value>(
        _ handle: UInt32,
        _ body: (ESYS_TR) throws(TPMError) -> Value
    ) throws(TPMError) -> Value {
        var object = Fixed.none
        try call("TPM2_ReadPublic") {
            Esys_TR_FromTPMPublic($0, handle, Fixed.none, Fixed.none, Fixed.none, &object)
        }
        defer { close(object) }
        return try body(object)
    }

    fileprivate func publicArea(at handle: UInt32) throws(TPMError) -> TPMT_PUBLIC? {
        try withPublic(handle) { (object) throws(TPMError) in
            var area: UnsafeMutablePointer<TPM2B_PUBLIC>?
            try call("TPM2_ReadPublic") {
                Esys_ReadPublic($0, object, Fixed.none, Fixed.none, Fixed.none, &area, nil, nil)
            }
            return try CMemory.take(area, of: "TPM2_ReadPublic") { $0.pointee.publicArea }
        }
    }

    /// Creates a primary key in a hierarchy without an authorization value.
    ///
    /// The caller must flush the key.
    func createPrimary(_ template: TPM2B_PUBLIC, in hierarchy: ESYS_TR) throws(TPMError) -> ESYS_TR {
        var template = template
        var sensitive = TPM2B_SENSITIVE_CREATE()
        var outside = TPM2B_DATA()
        var registers = TPML_PCR_SELECTION()
        var object = Fixed.none
        try call("TPM2_CreatePrimary") {
            Esys_CreatePrimary(
                $0,
                hierarchy,
                Fixed.password,
                Fixed.none,
                Fixed.none,
                &sensitive,
                &template,
                &outside,
                &registers,
                &object,
                nil,
                nil,
                nil,
                nil
            )
        }
        return object
    }

    /// Runs commands with owner authorization by means of its empty value, which is not a secret.
    ///
    /// - Throws: ``TPMError/Code-swift.enum/ownerAuthNeeded`` if the value is not empty.
    func asOwner<Value>(_ body: () throws(TPMError) -> Value) throws(TPMError) -> Value {
        do throws(TPMError) {
            return try body()
        } catch {
            throw error.code == .authFailed ? error.told(as: .ownerAuthNeeded) : error
        }
    }

    /// Sets an authorization value in ESAPI while `body` runs.
    ///
    /// ESAPI keeps a copy in the handle's entry, which is overwritten with an empty value afterward. tpm2-tss frees
    /// values derived from it (HMAC keys on its stack and in its session entries) without wiping them.
    func withAuth<Value: ~Copyable>(
        _ auth: borrowing SecretBytes,
        of handle: ESYS_TR,
        _ body: () throws(TPMError) -> Value
    ) throws(TPMError) -> Value {
        try CMemory.withSecret(TPM2B_AUTH.self) { (value) throws(TPMError) in
            try value.fill(auth: auth)
            try call("Esys_TR_SetAuth") { Esys_TR_SetAuth($0, handle, value) }
        }
        defer {
            // The whole structure is copied, so that zeros overwrite the value; NULL would only set its size.
            var nothing = TPM2B_AUTH()
            _ = Esys_TR_SetAuth(esys, handle, &nothing)
        }
        return try body()
    }
}
