// SPDX-License-Identifier: Apache-2.0

/// The upkeep of the state and its chip, and questions about them.
public protocol MaintenanceService: Sendable {
    /// The facts about the directory and the TPM as they are now; neither is asked.
    ///
    /// Another process is asked for them once for each use; one that does not answer has protected nothing.
    var facts: MaintenanceFacts { get }

    /// Returns whether anything was ever stored, and opens the state to find out.
    ///
    /// - Throws: the reason why the state cannot be used.
    func hasState() async throws(ServiceError) -> Bool

    /// Returns numbers that differ after each change of the state, by any process; the chip is not asked.
    ///
    /// - Returns: The numbers; `nil` if nothing was ever stored, or if the state cannot be read.
    func changeMark() async -> [Int]?

    /// Returns the status of the directory and its chip, and changes nothing.
    func vaultStatus() async throws(ServiceError) -> VaultStatus

    /// Returns whether a chip is available to this user's items; nothing is created.
    func hasChip() async -> Bool

    /// Puts the directory under the protection of the chip; the directory is made if it does not exist.
    ///
    /// - Throws: `noChip`, `ownerAuthorizationNeeded`, `chipFull`, `chipCleared`, a storage error.
    func provisionVault() async throws(ServiceError)

    /// Deletes the vault with its items, which cannot be recovered.
    ///
    /// - Parameter withoutChip: Whether to go on if the chip is gone.
    /// - Returns: The effect on the enrolled fingers.
    /// - Throws: `noChip`, `chipBusy`; a storage error, also where the database is busy, in which case the vault is unchanged.
    func resetVault(withoutChip: Bool) async throws(ServiceError) -> VaultReset

    /// Asks for the passcode, and binds the secrets that are bound to the machine's start to the start as it is now.
    ///
    /// - Parameters:
    ///   - request: The way in which the owner is asked. The passcode takes the place of the measurements.
    ///   - presenter: Shows the prompt.
    /// - Returns: The items that were bound, and those that were not.
    /// - Throws: the reason why the owner did not agree; `passcodeNotSet`, `noChip`, a storage error.
    func reseal(
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Resealing

    /// Returns the counted tries of the profile, one value for each ``ReaderClass``.
    ///
    /// - Throws: `storeFailed`.
    func attempts() async throws(ServiceError) -> [AttemptStatus]

    /// Returns the newest lines of the profile's audit log, newest first.
    ///
    /// - Parameter limit: The largest number of lines; less than 1 returns none.
    /// - Returns: At most `limit` lines; none if nothing was ever stored.
    /// - Throws: `storeFailed`.
    func log(limit: Int) async throws(ServiceError) -> [AuditEntry]

    /// Adds a line to the profile's audit log about a call of another process; a service calls it for its callers.
    ///
    /// A log that cannot be written changes nothing.
    func note(_ entry: AuditEntry) async

    /// Returns the fault of the file by which evaluations take turns; `nil` when nothing is wrong.
    func lockFileFault() async -> ServiceError?

    /// Closes the connection to the chip, which is opened again when it is needed; a program calls this at its end.
    func close() async
}

extension MaintenanceService {
    /// Does nothing: the service that has the log writes it by itself.
    public func note(_ entry: AuditEntry) async {}

    /// Returns whether the chip's status names no obstacle.
    public func hasChip() async -> Bool {
        // A chip that cannot be asked is as good as none here.
        (try? await vaultStatus().obstacle == nil) ?? false
    }
}
