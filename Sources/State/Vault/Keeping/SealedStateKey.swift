// SPDX-License-Identifier: Apache-2.0

import SecretMemory
package import StateStore
package import TPM

/// The state key in the chip's keeping: the file `state.sealed` holds it sealed, with the authority's value as its own,
/// so that a copy of the directory opens on this machine alone.
///
/// A policy that names the authority would say the same and take two more commands at every start.
///
/// Sealing an existing key is asked for by the owner (`whorl vault provision`). The key itself stays the same, so that
/// nothing has to be encrypted anew, and the file `state.key` goes only after the sealed one was opened once.
package struct SealedStateKey: Sendable {
    let device: TPMDevice
    let directory: StateDirectory

    static let size = 32

    package init(device: TPMDevice, directory: StateDirectory) {
        self.device = device
        self.directory = directory
    }

    /// The file that holds the sealed key.
    package var path: String { directory.file("state.sealed") }

    /// Whether there is a sealed key; it may be damaged.
    ///
    /// - Throws: `store`.
    package var exists: Bool {
        get throws(VaultError) { try stored { () throws(StateError) in try PrivateFiles.checkFile(path) } }
    }

    /// Where the state key of a directory is to be had from.
    ///
    /// A sealed key is unsealed; without one it is the key file's. Where the chip cannot unseal and the key file is
    /// still there, as after an interrupted ``seal()``, that one is taken: it is the same key.
    ///
    /// - Throws: `noChip`, `chipCleared`, `chipBusy` and the like when only the chip has the key; `store`.
    package func source() async throws(VaultError) -> any StateKeySource {
        let file = FileKeySource(directory: directory)
        guard try exists else { return file }
        do {
            return UnsealedKey(path: path, key: try await unseal())
        } catch {
            guard try stored({ () throws(StateError) in try file.exists() }) else { throw error }
            return file
        }
    }

    /// Brings the directory's key into the chip's keeping; makes one when there is none.
    ///
    /// It may be interrupted anywhere and called again: the key file is removed last, and only after the sealed key
    /// was found to be the same.
    ///
    /// - Throws: what the chip reports; `store`.
    package func seal() async throws(VaultError) {
        let file = FileKeySource(directory: directory)
        let present = try stored { () throws(StateError) -> SecretBox? in
            guard let key = try file.load() else { return nil }
            return SecretBox(key)
        }
        if try !exists { try await publish(present ?? SecretBox(SecretBytes(randomCount: Self.size))) }
        guard let present else { return }
        let sealed = try await unseal()
        guard SecretBytes.areEqual(present.bytes, sealed.bytes) else {
            throw VaultError(
                .store(StateError(.keyDamaged, path: file.path, cause: "the sealed key is another one")),
                file.path
            )
        }
        try stored { () throws(StateError) in try PrivateFiles.remove(file.path, in: directory.path) }
    }

    /// Gives the key back to a file, as before ``seal()``.
    ///
    /// - Throws: as ``source()``.
    package func unsealToFile() async throws(VaultError) {
        guard try exists else { return }
        let key = try await unseal()
        let file = FileKeySource(directory: directory)
        try stored { () throws(StateError) in
            _ = try PrivateFiles.publish(key.bytes, as: file.path, in: directory.path)
            // A file that was there already must hold this key, or the sealed one is the only right one.
            guard let written = try file.load(), SecretBytes.areEqual(written, key.bytes) else {
                throw StateError(.keyDamaged, path: file.path, cause: "the sealed key is another one")
            }
            try PrivateFiles.remove(path, in: directory.path)
        }
    }

    private func publish(_ key: SecretBox) async throws(VaultError) {
        let contents = try await sealed(key)
        try stored { () throws(StateError) in
            _ = try PrivateFiles.publish(contents.bytes, as: path, in: directory.path)
        }
    }

    /// What the file holds for a key.
    func sealed(_ key: SecretBox) async throws(VaultError) -> SecretBox {
        let authority = try await Provisioning(device: device, directory: directory).authority()
        let object: TPMObject
        do {
            object = try await device.perform { commands throws(TPMError) in
                try commands.seal(
                    key,
                    under: authority.root,
                    policy: Policy.authValue.digest,
                    auth: authority.authorization,
                    // 32 random bytes, which need no count; a locked chip must not keep the directory shut.
                    dictionaryAttack: false
                )
            }
        } catch {
            throw VaultError(error, path)
        }
        return SecretBox(VaultFile(parts: [object.serialized], secret: nil).encoded(as: .stateKey))
    }

    private func unseal() async throws(VaultError) -> SecretBox {
        guard let authority = try VaultAuthority.load(directory) else {
            throw VaultError(.chipCleared, path, cause: "the authority's file is gone")
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
            // The authority and the key lie beside each other: what does not load was made by another chip.
            guard error.code != .foreignBlob, error.code != .authFailed else {
                throw VaultError(.chipCleared, path, cause: error.description)
            }
            throw VaultError(error, path)
        }
        throw VaultError(.store(StateError(.keyDamaged, path: path)), path)
    }

    private func sealedObject() throws(VaultError) -> TPMObject {
        let path = path
        return try stored { () throws(StateError) in
            guard let contents = try PrivateFiles.read(path, atMost: VaultFile.largest) else {
                throw StateError(.keyMissing, path: path)
            }
            guard let file = VaultFile(contents, as: .stateKey), file.parts.count == 1,
                let object = try? TPMObject(serialized: file.parts[0])
            else { throw StateError(.keyDamaged, path: path) }
            return object
        }
    }

    func stored<Value>(_ body: () throws(StateError) -> Value) throws(VaultError) -> Value {
        do {
            return try body()
        } catch {
            throw VaultError(.store(error), error.path)
        }
    }
}

/// A key that was unsealed already.
private struct UnsealedKey: StateKeySource {
    let path: String
    let key: SecretBox

    func exists() throws(StateError) -> Bool { true }

    func load() throws(StateError) -> SecretBytes? { key.bytes.withBytes { SecretBytes(copying: $0) } }

    func loadOrCreate() throws(StateError) -> SecretBytes {
        key.bytes.withBytes { SecretBytes(copying: $0) }
    }
}
