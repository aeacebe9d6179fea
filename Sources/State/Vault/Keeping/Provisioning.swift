// SPDX-License-Identifier: Apache-2.0

import StateStore
import TPM

/// Makes what the vault stands on.
///
/// 1. The storage root is found in the chip, or made and kept there.
/// 2. The authority is made under it; the chip keeps nothing of it.
/// 3. The file `vault.authority` gets its name. From here on the vault is provisioned.
///
/// Whatever ends it before the third step leaves at most a storage root, which the next run finds. Of two processes
/// that provision at once, both get the authority of the first.
struct Provisioning: Sendable {
    let device: TPMDevice
    let directory: StateDirectory

    /// The authority of the directory, which must be there; made when there is none.
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
