// SPDX-License-Identifier: Apache-2.0

import SecretMemory
package import StateStore
import Synchronization
import WhorlTPM
package import WhorlService

extension SealedStateKey {
    /// Makes a key for a directory that has none, sealed by the chip from the beginning: it is never in a plain file.
    ///
    /// The directory must exist. The sealed key is written to the disk when the database asks for a key, since a key
    /// without a database means that the database was lost.
    ///
    /// - Throws: `noChip`, `ownerAuthorizationNeeded` and other errors of the chip; `store`.
    package func new() async throws(VaultError) -> any StateKeySource {
        let key = SecretBox(SecretBytes(randomCount: SealedStateKey.size))
        return NewSealedKey(sealed: try await sealed(key), key: key, path: path, directory: directory)
    }
}

/// A key that is not on the disk yet.
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

    func exists() throws(StateError) -> Bool { try PrivateFiles.checkFile(path) }

    func load() throws(StateError) -> SecretBytes? {
        guard try exists() else { return nil }
        // Another process was faster: its key has to be unsealed.
        guard isOurs.withLock(\.self) else { throw StateError(.busy, path: path) }
        return key.bytes.withBytes { SecretBytes(copying: $0) }
    }

    func loadOrCreate() throws(StateError) -> SecretBytes {
        guard try PrivateFiles.publish(sealed.bytes, as: path, in: directory.path) else {
            throw StateError(.busy, path: path)
        }
        isOurs.withLock { $0 = true }
        return key.bytes.withBytes { SecretBytes(copying: $0) }
    }
}
