// SPDX-License-Identifier: Apache-2.0

import WhorlSQLite
import Glibc
package import WhorlStateStore
package import WhorlTPM
package import WhorlService
import WhorlSupport

/// The owner's operations on the whole vault, which are `whorl vault provision` and `whorl vault reset`.
package struct VaultMaintenance: Sendable {
    private let device: TPMDevice
    private let directory: StateDirectory

    /// Creates the operations for a directory and a TPM without accessing either.
    package init(device: TPMDevice, directory: StateDirectory) {
        self.device = device
        self.directory = directory
    }

    /// Creates the storage root and the authority, and seals the state key with the TPM.
    ///
    /// The directory must exist. The operation may be interrupted at any point and run again.
    ///
    /// - Throws: `noChip`, `ownerAuthorizationNeeded`, `chipFull`, `chipCleared`, a storage error.
    package func provision() async throws(ServiceError) {
        let lock = try await VaultLock.acquire(directory)
        defer { lock.release() }
        _ = try await Provisioning(device: device, directory: directory).authority()
        try await SealedStateKey(device: device, directory: directory).seal()
    }

    /// Removes the vault.
    ///
    /// Secrets, keys and passcodes are lost permanently.
    ///
    /// The fingers are kept if the TPM can still unseal the state key, which is then written back to a file. Otherwise,
    /// all data that the key protects is lost. In that case the database is renamed, and the next start creates a new
    /// one. A damaged database is also renamed. The operation may be interrupted at any point and run again.
    ///
    /// - Parameters:
    ///   - withoutChip: Whether to continue if the TPM is missing, which leaves any objects in the TPM behind.
    ///   - open: A function that opens the database once its key is in a file or was found to be lost. It returns `nil`
    ///     if no state exists.
    /// - Returns: The effect of the reset on the fingers.
    /// - Throws: `noChip` or `chipBusy` if the TPM cannot be reached, or a storage error if the database cannot be
    ///   opened now, in which case the vault is unchanged.
    package func reset(
        withoutChip: Bool = false,
        opening open: () async throws(ServiceError) -> StateDatabase?
    ) async throws(ServiceError) -> VaultReset {
        let lock = try await VaultLock.acquire(directory)
        defer { lock.release() }
        let key = SealedStateKey(device: device, directory: directory)
        var isLost = try await isLost(key, withoutChip)
        if !isLost {
            let database: StateDatabase?
            do throws(ServiceError) {
                database = try await open()
            } catch {
                guard error.isDamage else { throw error }
                (database, isLost) = (nil, true)
            }
            if let database { try await empty(database, withoutChip) }
        }
        let aside = asidePath
        if isLost { try putAside(as: aside) }
        try PrivateFiles.remove(key.path, in: directory.path)
        try PrivateFiles.remove(VaultAuthority.path(directory), in: directory.path)
        return isLost ? .fingersLost(database: aside) : .fingersKept
    }

    /// Removes the counters from the TPM and empties the database of a directory that is deleted afterwards.
    ///
    /// Unlike ``reset(withoutChip:opening:)``, this does not write the state key to a file, from which deleted data could be
    /// decrypted.
    ///
    /// - Throws: `chipBusy` or a storage error.
    package func forget(_ database: StateDatabase) async throws(ServiceError) {
        let lock = try await VaultLock.acquire(directory)
        defer { lock.release() }
        try await empty(database, true)
    }

    /// Writes the state key to a file, or returns `true` if the key is lost.
    ///
    /// - Throws: An error if it cannot be determined whether the key is lost.
    private func isLost(_ key: SealedStateKey, _ withoutChip: Bool) async throws(ServiceError) -> Bool {
        do {
            try await key.unsealToFile()
            return false
        } catch {
            switch error.code {
            case .chipCleared: return true
            case .noChip where withoutChip: return true
            default:
                guard error.isDamage else { throw error }
                return true
            }
        }
    }

    /// Removes the counters from the TPM while they can still be found with the authority, and then empties the
    /// database.
    private func empty(_ database: StateDatabase, _ withoutChip: Bool) async throws(ServiceError) {
        if let authority = try VaultAuthority.load(directory) {
            do {
                try await device.perform { commands throws(TPMError) in
                    let counters = try commands.findCounters(writePolicy: authority.writePolicy.digest)
                    for counter in counters { try commands.undefine(counter) }
                }
            } catch {
                let error = ServiceError(error)
                guard withoutChip, error.code == .noChip else { throw error }
            }
        }
        try await database.write(.full) { db in
            for table in ["vault_items", "vault_counters", "vault_passcodes"] {
                try db.execute(sql: "DELETE FROM \(table)")
            }
            // From now on, nothing unlocks these items.
            try PasscodeBoundItems.delete(of: nil, db)
            try db.execute(sql: "DELETE FROM keychain_items WHERE sealing <> 1")
            try OwnKeyringPassword.lose(db)
        }
    }

    private var databasePath: String { directory.file("whorl.sqlite") }

    /// A path for the renamed database that no earlier reset has used.
    private var asidePath: String {
        let plain = directory.file("whorl.sqlite.lost")
        let names = [plain] + (2...1000).map { "\(plain)-\($0)" }
        return names.first { access($0, F_OK) != 0 } ?? plain
    }

    private func putAside(as aside: String) throws(ServiceError) {
        for suffix in ["-wal", "-shm", ""] {
            guard rename(databasePath + suffix, aside + suffix) == 0 || errno == ENOENT else {
                throw ServiceError(errno: errno, path: databasePath + suffix)
            }
        }
        try PrivateFiles.syncDirectory(directory.path)
    }
}

extension ServiceError {
    /// Whether the error means that the database or its key is damaged, or that the database's key is missing.
    fileprivate var isDamage: Bool {
        [.storeDamaged, .storeKeyDamaged, .storeKeyMissing].contains(code)
    }
}
