// SPDX-License-Identifier: Apache-2.0

internal import Enrollment
internal import StateStore
internal import TPM
public import Vault

/// The vault, and the chip's part in protecting this directory.
extension SystemServices {
    /// Returns the vault for making items and setting a passcode, which is made if nothing was ever stored.
    ///
    /// - Throws: `noChip` when no chip is present and none was ever used here, in which case no vault was made;
    ///   `store`.
    public func vault() async throws(VaultError) -> Vault { try await state.madeVault() }

    /// Returns the vault for existing items; `nil` when nothing was ever stored.
    ///
    /// - Throws: as ``vault()``.
    public func existingVault() async throws(VaultError) -> Vault? { try await state.chipVault() }

    /// Returns the vault for operations without a chip: listing, deleting, public halves; `nil` when nothing was ever
    /// stored.
    ///
    /// The chip is asked only where it keeps the state key.
    ///
    /// - Throws: `store`.
    public func storedVault() async throws(VaultError) -> Vault? { try await state.existingVault() }

    /// Returns the status of the directory and its chip, and changes nothing.
    public func vaultStatus() async throws(VaultError) -> VaultStatus {
        try await VaultStatus.read(device: try chip.inUse(), directory: stateDirectory)
    }

    /// Puts the directory under the protection of the chip; the directory is made if it does not exist.
    ///
    /// - Throws: `noChip`, `ownerAuthorizationNeeded`, `chipFull`, `chipCleared`, `store`.
    public func provisionVault() async throws(VaultError) {
        try await chip.reach()
        do {
            _ = try await state.created()
        } catch {
            throw VaultError(.store(error), error.path)
        }
        try await VaultMaintenance(device: try chip.inUse(), directory: stateDirectory).provision()
    }

    /// Deletes the vault with its items, which cannot be recovered.
    ///
    /// - Parameter withoutChip: Whether to go on if the chip is gone.
    /// - Returns: The effect on the enrolled fingers.
    /// - Throws: `noChip`, `chipBusy`; `store`, also where the database is busy, in which case the vault is unchanged.
    public func resetVault(withoutChip: Bool) async throws(VaultError) -> VaultMaintenance.Reset {
        let state = state
        return try await VaultMaintenance(device: try chip.inUse(), directory: stateDirectory)
            .reset(withoutChip: withoutChip) { () async throws(StateError) in
                guard let database = try await state.existing() else { return nil }
                // The counters are deleted, and the fingers stay.
                do throws(EnrollmentError) {
                    try await EnrollmentStore(database: database).forgetCounters()
                } catch {
                    guard case .store(let error) = error.code else {
                        throw StateError(.failed, path: state.directory.path, cause: error.description)
                    }
                    throw error
                }
                return database
            }
    }

    /// Closes the connection to the chip, which is opened again when it is needed; a program calls this at its end.
    ///
    /// The kernel frees what a program has loaded when the program closes `/dev/tpmrm0`; other TPMs keep what is
    /// loaded.
    public func letGoOfTPM() async { await chip.device.close() }

    /// Whether a real chip protects this directory: its key, or at least the authority over its items.
    ///
    /// It reads only the directory, not the chip.
    public var isProtectedByHardware: Bool {
        chip.isReal && VaultStatus.isProvisioned(stateDirectory)
    }

    /// The chosen TPM, as a TCTI string; `none` where none is wanted, or where the named one is refused.
    public var tpmAddress: String { chip.device.address.text }

    /// Whether an option or a variable names the TPM, so that its failure is an error.
    public var isTPMNamed: Bool { chip.isNamed }

    /// Whether a simulated TPM has answered.
    public var usedSimulatedTPM: Bool { chip.usedSimulated }
}
