// SPDX-License-Identifier: Apache-2.0

internal import Enrollment
internal import StateStore
internal import TPM
public import Vault

/// The vault, and what the chip has to do with this directory.
extension SystemServices {
    /// The vault for making items and setting a passcode; made when nothing was ever stored.
    ///
    /// - Throws: `noChip` when there is none and none was ever used here, and then nothing was made; `store`.
    public func vault() async throws(VaultError) -> Vault { try await state.madeVault() }

    /// The vault for what was made before; `nil` when nothing was.
    ///
    /// - Throws: as ``vault()``.
    public func existingVault() async throws(VaultError) -> Vault? { try await state.chipVault() }

    /// The vault for what needs no chip: listing, deleting, public halves; `nil` when nothing was ever stored.
    ///
    /// The chip is asked only where it keeps the state key.
    ///
    /// - Throws: `store`.
    public func storedVault() async throws(VaultError) -> Vault? { try await state.existingVault() }

    /// How the directory stands with its chip; nothing is changed.
    public func vaultStatus() async throws(VaultError) -> VaultStatus {
        try await VaultStatus.read(device: try chip.inUse(), directory: stateDirectory)
    }

    /// Brings the directory into the chip's keeping; it is made when it is not there.
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

    /// Takes the vault apart; what it held is gone for good.
    ///
    /// - Parameter withoutChip: Whether it goes on where there is no chip any more.
    /// - Returns: What became of the fingers.
    /// - Throws: `noChip`, `chipBusy`; `store`, also where the database is busy, and then the vault still stands.
    public func resetVault(withoutChip: Bool) async throws(VaultError) -> VaultMaintenance.Reset {
        let state = state
        return try await VaultMaintenance(device: try chip.inUse(), directory: stateDirectory)
            .reset(withoutChip: withoutChip) { () async throws(StateError) in
                guard let database = try await state.existing() else { return nil }
                // The counters go, and the fingers stay.
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

    /// Lets go of the chip, which is taken again when it is needed; a program does so at its end.
    ///
    /// The kernel does it for whoever closes `/dev/tpmrm0`; other TPMs keep what is loaded.
    public func letGoOfTPM() async { await chip.device.close() }

    /// Whether a real chip keeps this directory: its key, or at least the authority over its items.
    ///
    /// Only the directory is looked at.
    public var isProtectedByHardware: Bool {
        chip.isReal && VaultStatus.isProvisioned(stateDirectory)
    }

    /// The TPM that is meant, as a TCTI string; `none` where there shall be none, or where the named one is refused.
    public var tpmAddress: String { chip.device.address.text }

    /// Whether somebody named the TPM, by an option or a variable: then it is an error where it fails.
    public var isTPMNamed: Bool { chip.isNamed }

    /// Whether a simulated TPM has answered.
    public var usedSimulatedTPM: Bool { chip.usedSimulated }
}
