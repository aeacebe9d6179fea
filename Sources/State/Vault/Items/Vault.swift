// SPDX-License-Identifier: Apache-2.0

public import StateStore
import Synchronization
public import TPM
import WhorlSupport

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

    /// The authority as it was read last, and the file that it was read from.
    private let known = Mutex<(authority: VaultAuthority, file: FileIdentity)?>(nil)

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

    /// The authority as the directory has it now; `nil` before the vault is provisioned.
    ///
    /// Another process may have reset the vault and made a new one since it was read last: nothing may be bound to an
    /// authority that is gone.
    func authority() throws(VaultError) -> VaultAuthority? {
        let directory = directory
        return try known.withLock { known throws(VaultError) in
            let path = VaultAuthority.path(directory)
            let file: FileIdentity?
            do throws(StateError) { file = try FileIdentity(at: path) } catch {
                throw VaultError(.store(error), path)
            }
            if let known, known.file == file { return known.authority }
            // Where the file is exchanged between the two looks, the next call reads it again.
            let authority = try VaultAuthority.load(directory)
            known = if let authority, let file { (authority, file) } else { nil }
            return authority
        }
    }

    /// The authority, made when there is none.
    func provisionedAuthority() async throws(VaultError) -> VaultAuthority {
        if let authority = try authority() { return authority }
        return try await Provisioning(device: device, directory: directory).authority()
    }

    /// Makes something under the authority of the directory, which no reset takes away meanwhile.
    ///
    /// - Throws: `store` with `busy` while another process keeps the vault for a minute; what `body` throws.
    func sealing<Value: Sendable>(
        _ body: (VaultAuthority) async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        let lock = try await VaultLock.acquire(directory)
        defer { lock.release() }
        return try await body(try await provisionedAuthority())
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
