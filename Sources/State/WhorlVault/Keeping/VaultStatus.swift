// SPDX-License-Identifier: Apache-2.0

package import WhorlStateStore
package import WhorlTPM
package import WhorlService

extension VaultStatus {
    /// Returns whether a directory has a vault according to the vault's file, which may be damaged, without accessing
    /// the TPM.
    package static func isProvisioned(_ directory: StateDirectory) -> Bool {
        (try? PrivateFiles.checkFile(VaultAuthority.path(directory))) ?? true
    }

    /// Reads the vault status of a directory and a TPM.
    ///
    /// - Throws: A storage error if the directory's files cannot be read.
    package static func read(
        device: TPMDevice,
        directory: StateDirectory
    ) async throws(ServiceError) -> VaultStatus {
        let authority = try VaultAuthority.load(directory)
        let stateKey = try StateKey(directory)
        let chip: (status: ChipStatus?, isSame: Bool?, obstacle: ServiceError?)
        do {
            let (properties, isSame) = try await device.perform { commands throws(TPMError) in
                (try commands.properties(), try sameChip(commands, authority))
            }
            chip = (ChipStatus(properties), isSame, nil)
        } catch {
            chip = (nil, nil, ServiceError(error))
        }
        return VaultStatus(
            chip: chip.status,
            obstacle: chip.obstacle,
            isSimulated: device.address.isSimulated,
            isProvisioned: authority != nil,
            isSameChip: chip.isSame,
            stateKey: stateKey,
            storageRoot: authority?.root.handle
        )
    }

    /// Returns whether the authority's root exists and the authority's object can be loaded under it.
    private static func sameChip(
        _ commands: borrowing TPMCommands,
        _ authority: VaultAuthority?
    ) throws(TPMError) -> Bool? {
        guard let authority else { return nil }
        guard try commands.check(authority.root) == .same else { return false }
        do {
            try commands.load(authority.object, under: authority.root)
            return true
        } catch {
            guard error.code == .foreignBlob || error.code == .foreignRoot else { throw error }
            return false
        }
    }
}

extension ChipStatus {
    fileprivate init(_ properties: TPMProperties) {
        self.init(
            manufacturer: properties.manufacturer,
            vendor: properties.vendor,
            firmware: properties.firmware,
            specRevision: properties.specRevision,
            counters: properties.nvCounters,
            countersFree: properties.nvCountersFree,
            ownerAuthSet: properties.ownerAuthSet,
            lockoutAuthSet: properties.lockoutAuthSet,
            failures: properties.dictionaryAttack.failures,
            failureLimit: properties.dictionaryAttack.limit,
            recoverySeconds: properties.dictionaryAttack.recoverySeconds,
            inLockout: properties.inLockout
        )
    }
}

extension VaultStatus.StateKey {
    fileprivate init(_ directory: StateDirectory) throws(ServiceError) {
        let inFile = try PrivateFiles.checkFile(FileKeySource(directory: directory).path)
        let isSealed = try PrivateFiles.checkFile(directory.file("state.sealed"))
        self =
            switch (inFile, isSealed) {
            case (false, false): .none
            case (true, false): .file
            case (false, true): .sealed
            case (true, true): .both
            }
    }
}
