// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
package import WhorlStateStore
import Synchronization
package import WhorlService
package import WhorlTPM

/// The state key that the TPM has sealed in the file `state.sealed`.
///
/// A copy of the directory therefore works only on this machine. The sealed key has the same authorization value as the
/// authority. A policy that refers to the authority would have the same effect, but would take two more commands at
/// every start.
///
/// The owner seals an existing key with `whorl vault provision`. The key itself stays the same, so nothing has to be
/// encrypted again. The file `state.key` is removed only after the sealed key has been unsealed once.
package struct SealedStateKey: Sendable {
    let device: TPMDevice
    let directory: StateDirectory

    static let size = 32

    package init(device: TPMDevice, directory: StateDirectory) {
        self.device = device
        self.directory = directory
    }

    /// The path of the file that contains the sealed key.
    package var path: String { directory.file("state.sealed") }

    /// Whether a sealed key exists, even if it is damaged.
    ///
    /// - Throws: A storage error.
    package var exists: Bool {
        get throws(ServiceError) { try PrivateFiles.checkFile(path) }
    }

    /// Returns the source of the directory's state key.
    ///
    /// If there is a sealed key, it is unsealed. Otherwise the key comes from the key file. If the TPM cannot unseal
    /// the key and the key file still exists, for example after an interrupted ``seal()``, the key file is used because
    /// it contains the same key.
    ///
    /// - Throws: `noChip`, `chipCleared`, `chipBusy` or a similar error if only the TPM has the key, or a storage
    ///   error.
    package func source() async throws(ServiceError) -> any StateKeySource {
        let file = FileKeySource(directory: directory)
        guard try exists else { return file }
        do {
            return UnsealedKey(path: path, key: try await unseal())
        } catch {
            guard try file.exists() else { throw error }
            return file
        }
    }

    /// Seals the directory's key with the TPM, creating a key if the directory has none.
    ///
    /// This function may be interrupted at any point and called again, because the key file is removed last, and only
    /// after checking that the sealed key is the same.
    ///
    /// - Throws: The TPM's errors or a storage error.
    package func seal() async throws(ServiceError) {
        let file = FileKeySource(directory: directory)
        var present: SecretBox?
        if let key = try file.load() { present = SecretBox(key) }
        if try !exists { try await publish(present ?? SecretBox(SecretBytes(randomCount: Self.size))) }
        guard let present else { return }
        let sealed = try await unseal()
        guard SecretBytes.areEqual(present.bytes, sealed.bytes) else {
            throw ServiceError(.storeKeyDamaged, file.path, cause: "the sealed key is a different one")
        }
        try PrivateFiles.remove(file.path, in: directory.path)
    }

    /// Writes the key back to a file, as it was before ``seal()``.
    ///
    /// - Throws: The errors of ``source()``.
    package func unsealToFile() async throws(ServiceError) {
        guard try exists else { return }
        let key = try await unseal()
        let file = FileKeySource(directory: directory)
        _ = try PrivateFiles.publish(key.bytes, as: file.path, in: directory.path)
        // An existing file must contain this key; otherwise only the sealed key is right.
        guard let written = try file.load(), SecretBytes.areEqual(written, key.bytes) else {
            throw ServiceError(.storeKeyDamaged, file.path, cause: "the sealed key is a different one")
        }
        try PrivateFiles.remove(path, in: directory.path)
    }

    private func publish(_ key: SecretBox) async throws(ServiceError) {
        let contents = try await sealed(key)
        _ = try PrivateFiles.publish(contents.bytes, as: path, in: directory.path)
    }

    /// Returns the contents of the file for a key.
    func sealed(_ key: SecretBox) async throws(ServiceError) -> SecretBox {
        let authority = try await Provisioning(device: device, directory: directory).authority()
        let object = try await device.run(about: path) { commands throws(TPMError) in
            try commands.create(
                .sealed(key),
                under: authority.root,
                policy: TPMPolicy.authValue.digest,
                auth: authority.authorization,
                // 32 random bytes need no limit on failed attempts, and a locked TPM must not make the directory
                // inaccessible.
                dictionaryAttack: false
            )
        }
        return SecretBox(VaultFile(parts: [object.serialized], secret: nil).encoded(as: .stateKey))
    }

    private func unseal() async throws(ServiceError) -> SecretBox {
        guard let authority = try VaultAuthority.load(directory) else {
            throw ServiceError(.chipCleared, path, cause: "the authority's file is missing")
        }
        let object = try sealedObject()
        let credentials = authority.ownValue
        do {
            let key = try await device.perform { commands throws(TPMError) in
                SecretBox(
                    try commands.unseal(
                        object,
                        under: authority.root,
                        meeting: .authValue,
                        with: credentials
                    )
                )
            }
            guard key.bytes.count != Self.size else { return key }
        } catch {
            // The authority and the key are in one directory, so an object that does not load was created by another
            // TPM.
            guard error.code != .foreignBlob, error.code != .authFailed else {
                throw ServiceError(.chipCleared, path, cause: error.description)
            }
            throw ServiceError(error, path)
        }
        throw ServiceError(.storeKeyDamaged, path)
    }

    private func sealedObject() throws(ServiceError) -> TPMObject {
        let path = path
        guard let contents = try PrivateFiles.read(path, atMost: VaultFile.largest) else {
            throw ServiceError(.storeKeyMissing, path)
        }
        guard let file = VaultFile(contents, as: .stateKey), file.parts.count == 1,
            let object = try? TPMObject(serialized: file.parts[0])
        else { throw ServiceError(.storeKeyDamaged, path) }
        return object
    }
}

/// A source of a key that has already been unsealed.
private struct UnsealedKey: StateKeySource {
    let path: String
    let key: SecretBox

    func exists() throws(ServiceError) -> Bool { true }

    func load() throws(ServiceError) -> SecretBytes? { key.bytes.withBytes { SecretBytes(copying: $0) } }

    func loadOrCreate() throws(ServiceError) -> SecretBytes {
        key.bytes.withBytes { SecretBytes(copying: $0) }
    }
}

extension SealedStateKey {
    /// Creates a key for a directory that has none.
    ///
    /// The TPM seals it from the start, so it is never in a plain file.
    ///
    /// The directory must exist. The sealed key is not written to the disk until the database requests a key, because a
    /// key without a database means that the database was lost.
    ///
    /// - Throws: `noChip`, `ownerAuthorizationNeeded`, another TPM error, or a storage error.
    package func new() async throws(ServiceError) -> any StateKeySource {
        let key = SecretBox(SecretBytes(randomCount: SealedStateKey.size))
        return NewSealedKey(sealed: try await sealed(key), key: key, path: path, directory: directory)
    }
}

/// A source of a key that is not on the disk yet.
private final class NewSealedKey: StateKeySource {
    let path: String
    private let sealed: SecretBox
    private let key: SecretBox
    private let directory: StateDirectory
    private let isOurs = Mutex(false)

    init(sealed: SecretBox, key: SecretBox, path: String, directory: StateDirectory) {
        self.sealed = sealed
        self.key = key
        self.path = path
        self.directory = directory
    }

    func exists() throws(ServiceError) -> Bool { try PrivateFiles.checkFile(path) }

    func load() throws(ServiceError) -> SecretBytes? {
        guard try exists() else { return nil }
        // Another process was faster, so its key has to be unsealed.
        guard isOurs.withLock(\.self) else { throw ServiceError(.storeBusy, path) }
        return key.bytes.withBytes { SecretBytes(copying: $0) }
    }

    func loadOrCreate() throws(ServiceError) -> SecretBytes {
        guard try PrivateFiles.publish(sealed.bytes, as: path, in: directory.path) else {
            throw ServiceError(.storeBusy, path)
        }
        isOurs.withLock { $0 = true }
        return key.bytes.withBytes { SecretBytes(copying: $0) }
    }
}
