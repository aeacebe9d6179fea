// SPDX-License-Identifier: Apache-2.0

package import WhorlStateStore
import Synchronization
package import WhorlService
import WhorlSupport
package import WhorlTPM

/// A store of secrets and signing keys that a TPM releases only when their access control is satisfied.
///
/// The items are stored in the state directory's database, sealed by the TPM. The TPM itself stores only the storage
/// root and one counter for each profile with fingers. The vault never prompts the user. The caller passes the owner's
/// proof as an ``OwnerProof``.
///
/// Several tasks and processes may use the vault at the same time.
package final class Vault: Sendable {
    let device: TPMDevice
    let database: StateDatabase
    let time: MachineTime

    /// The authority that was last read, and the file that it was read from.
    private let known = Mutex<(authority: VaultAuthority, file: FileIdentity)?>(nil)

    /// Creates a vault for a TPM and an open database, without accessing either.
    package init(device: TPMDevice, database: StateDatabase, time: MachineTime = .system) {
        self.device = device
        self.database = database
        self.time = time
    }

    var directory: StateDirectory { database.directory }
    var seal: RowMAC { RowMAC(database) }

    /// Whether the vault has been provisioned.
    ///
    /// Reading this property does not access the TPM.
    package var isProvisioned: Bool {
        get throws(ServiceError) { try authority() != nil }
    }

    /// Creates the storage root and the authority if they do not exist yet.
    ///
    /// - Throws: `noChip`, `ownerAuthorizationNeeded`, `chipFull`, a storage error, or another TPM error.
    package func provision() async throws(ServiceError) { _ = try await provisionedAuthority() }

    /// Returns the directory's current authority, or `nil` if the vault has not been provisioned yet.
    ///
    /// Another process may have reset the vault and created a new authority since the last read, and nothing may be
    /// bound to an authority that no longer exists.
    func authority() throws(ServiceError) -> VaultAuthority? {
        let directory = directory
        return try known.withLock { known throws(ServiceError) in
            let path = VaultAuthority.path(directory)
            let file = try FileIdentity(at: path)
            if let known, known.file == file { return known.authority }
            // If the file is replaced between the two reads, the next call reads it again.
            let authority = try VaultAuthority.load(directory)
            known = if let authority, let file { (authority, file) } else { nil }
            return authority
        }
    }

    /// Returns the authority, creating it if it does not exist.
    func provisionedAuthority() async throws(ServiceError) -> VaultAuthority {
        if let authority = try authority() { return authority }
        return try await Provisioning(device: device, directory: directory).authority()
    }

    /// Creates an object under the directory's authority while preventing a reset from removing the authority.
    ///
    /// - Throws: `storeBusy` if another process keeps the vault locked for a minute, or the errors of `body`.
    func sealing<Value: Sendable>(
        _ body: (VaultAuthority) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        let lock = try await VaultLock.acquire(directory)
        defer { lock.release() }
        return try await body(try await provisionedAuthority())
    }

    /// Runs commands without interruption by other tasks in this process.
    func chip<Value: Sendable>(
        about subject: String = "",
        _ body: @Sendable (borrowing TPMCommands) throws(TPMError) -> Value
    ) async throws(ServiceError) -> Value {
        try await device.run(about: subject, body)
    }
}

extension TPMDevice {
    /// Runs commands like ``perform(_:)``, and converts a TPM error to a service error about a subject.
    package func run<Value: Sendable>(
        about subject: String = "",
        _ body: @Sendable (borrowing TPMCommands) throws(TPMError) -> Value
    ) throws(ServiceError) -> Value {
        do { return try perform(body) } catch { throw ServiceError(error, subject) }
    }
}

extension ServiceError {
    /// Converts a TPM error when nothing else is known about the operation.
    package init(_ error: TPMError, _ subject: String = "") {
        let code: Code =
            switch error.code {
            case .noDevice, .permission, .invalidAddress: .noChip
            case .deviceBusy, .busy, .connectionLost, .reset: .chipBusy
            case .cancelled: .appCancel
            case .outOfSlots: .chipCrowded
            case .lockout: .chipLockedOut
            case .ownerAuthNeeded: .ownerAuthorizationNeeded
            case .authFailed, .policyFailed, .missingCredential: .accessDenied
            case .nvSpace: .chipFull
            case .nvMissing, .nvUnwritten: .counterLost
            case .foreignRoot: .chipCleared
            case .foreignBlob, .malformed: .itemTampered
            case .pointRefused: .publicKeyRefused
            case .alteredAnswer, .nvDefined, .tooLarge, .unsupported, .failureMode,
                .other:
                .chipFailed
            }
        // If the TPM is missing, the address that was tried is more useful than the item.
        self.init(code, code == .noChip ? error.cause : subject, cause: error.description)
    }
}

/// The lock that is required for changing the TPM and the database together.
///
/// Among all processes that share a state directory, only one can have the lock at a time.
enum VaultLock {
    /// The maximum time to wait.
    ///
    /// A TPM may take seconds for one command.
    private static let limit = Duration.seconds(60)

    /// Acquires the lock as soon as it is free, without blocking a thread.
    ///
    /// Cancelling the task does not cancel the wait, because a change to the TPM and the database must be completed
    /// once it has begun.
    ///
    /// - Throws: `storeBusy` if the lock is not released for a minute, or an error with the reason why the file cannot
    ///   be used.
    static func acquire(_ directory: StateDirectory) async throws(ServiceError) -> FileLock {
        let path = directory.file("vault.lock")
        do throws(FileLockError) {
            return try await FileLock.acquire(path, within: limit, endsWithTask: false)
        } catch {
            throw ServiceError(error, path: path)
        }
    }
}
