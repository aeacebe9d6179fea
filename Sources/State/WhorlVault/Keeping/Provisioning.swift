// SPDX-License-Identifier: Apache-2.0

import StateStore
import WhorlTPM
import WhorlService

/// Makes the storage root and the authority of the vault.
///
/// 1. The storage root is found in the chip, or made and stored there.
/// 2. The authority is made under it; the chip does not store it.
/// 3. The file `vault.authority` gets its name. From here on the vault is provisioned.
///
/// A run that ends before the third step leaves at most a storage root, which the next run finds. If two processes
/// provision at once, both get the authority of the first.
struct Provisioning: Sendable {
    let device: TPMDevice
    let directory: StateDirectory

    /// Returns the authority of the directory, which must exist; makes the authority if the directory has none.
    func authority() async throws(VaultError) -> VaultAuthority {
        if let authority = try VaultAuthority.load(directory) { return authority }
        let made: VaultAuthority
        do {
            made = try await device.perform { commands throws(TPMError) in
                try VaultAuthority.make(commands, under: try commands.findOrMakeStorageRoot())
            }
        } catch {
            throw VaultError(error)
        }
        return try made.publish(directory)
    }
}
