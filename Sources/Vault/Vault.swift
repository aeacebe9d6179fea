// SPDX-License-Identifier: Apache-2.0

public import StateStore
import Synchronization
public import TPM

/// Secrets and signing keys that a TPM gives only when their access control is met.
///
/// What it keeps lies in the state directory's database, sealed by the chip; in the chip itself there is one counter
/// for each profile with fingers, and the storage root. It asks nobody anything: what the owner has shown comes as an
/// ``OwnerProof``.
///
/// It may be used from several tasks and processes at once.
public final class Vault: Sendable {
    let device: TPMDevice
    let database: StateDatabase
    let time: MachineTime

    /// It never changes once it is there.
    private let known = Mutex<VaultAuthority?>(nil)

    /// Works with a chip and an open database; nothing is asked of either yet.
    public convenience init(device: TPMDevice, database: StateDatabase) {
        self.init(device: device, database: database, time: .system)
    }

    package init(device: TPMDevice, database: StateDatabase, time: MachineTime) {
        self.device = device
        self.database = database
        self.time = time
    }

    var directory: StateDirectory { database.directory }
    var seal: RowSeal { RowSeal(database) }

    /// Whether the vault was provisioned; the chip is not asked.
    public var isProvisioned: Bool {
        get throws(VaultError) { try authority() != nil }
    }

    /// Makes what everything else stands on, where it is not there yet.
    ///
    /// - Throws: `noChip`, `ownerAuthorizationNeeded`, `chipFull`, `store`, and what else the chip reports.
    package func provision() async throws(VaultError) { _ = try await provisionedAuthority() }

    /// The authority; `nil` before the vault is provisioned.
    func authority() throws(VaultError) -> VaultAuthority? {
        let directory = directory
        return try known.withLock { known throws(VaultError) in
            if let authority = known { return authority }
            known = try VaultAuthority.load(directory)
            return known
        }
    }

    /// The authority, made when there is none.
    func provisionedAuthority() async throws(VaultError) -> VaultAuthority {
        if let authority = try authority() { return authority }
        let made = try await Provisioning(device: device, directory: directory).authority()
        known.withLock { $0 = made }
        return made
    }

    /// Runs commands that no other task of this process comes between.
    func chip<Value: Sendable>(
        about subject: String = "",
        _ body: @Sendable (borrowing TPMCommands) throws(TPMError) -> Value
    ) async throws(VaultError) -> Value {
        do {
            return try await device.perform(body)
        } catch {
            throw VaultError(error, subject)
        }
    }
}
