// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import WhorlStateStore
internal import WhorlEngine
internal import WhorlEnrollment
internal import WhorlService
internal import WhorlSupport
internal import WhorlVault

/// The protected state directory, which is opened when it is first used. It requires the TPM only if the TPM protects
/// its key.
///
/// If there is a TPM, it protects the key of a new directory. An existing directory is not changed, because only its
/// owner can have the TPM protect its key (`whorl vault provision`).
actor ProtectedState: VaultSource {
    let directory: StateDirectory
    let chip: ChipChoice
    /// The account that will own a new directory.
    private let trust: AccountTrust

    /// A separate queue is used, because all threads of the shared pool may be blocked in calls that wait for this
    /// state to be opened.
    private nonisolated let executor = QueueExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var database: StateDatabase?
    private var vault: Vault?
    /// The task that is opening the database; the next one waits for it.
    private var opening: Task<Result<StateDatabase?, ServiceError>, Never>?

    init(_ directory: StateDirectory, _ chip: ChipChoice, of trust: AccountTrust) {
        self.directory = directory
        self.chip = chip
        self.trust = trust
    }

    /// Returns the database; `nil` if nothing was ever stored.
    func existing() async throws(ServiceError) -> StateDatabase? {
        try await opened { state async throws(ServiceError) in try await state.openExisting() }
    }

    /// Returns the database, and creates it if nothing was ever stored.
    func created() async throws(ServiceError) -> StateDatabase {
        let database = try await opened { state async throws(ServiceError) in try await state.create() }
        guard let database else { throw ServiceError(.storeFailed, directory.path) }
        return database
    }

    /// Returns the vault; `nil` if nothing was ever stored.
    func existingVault() async throws(ServiceError) -> Vault? {
        try await existing().map(vault(on:))
    }

    /// Returns the vault for an item if there is a TPM or the vault was provisioned with one.
    ///
    /// - Returns: The vault; `nil` if there is a TPM but nothing was ever stored.
    /// - Throws: `noChip` or a storage error.
    func vaultInChip() async throws(ServiceError) -> Vault? {
        let existing = try await existingVault()
        if let existing, try existing.isProvisioned { return existing }
        try await chip.reach()
        return existing
    }

    /// Returns the vault for an item like `vaultInChip()`, and creates it if nothing was ever stored.
    ///
    /// - Throws: `noChip`, in which case a vault was not created, or a storage error.
    func createdVault() async throws(ServiceError) -> Vault {
        if let existing = try await vaultInChip() { return existing }
        return vault(on: try await created())
    }

    /// Returns when the actor runs it, which shows that nothing blocks the state.
    func answer() {}

    private func vault(on database: StateDatabase) -> Vault {
        if let vault { return vault }
        let made = Vault(device: chip.device, database: database)
        vault = made
        return made
    }

    /// Opens the database, one opening at a time.
    ///
    /// Opening continues even if a caller is cancelled.
    private func opened(
        _ open: @escaping @Sendable (isolated ProtectedState) async throws(ServiceError) -> StateDatabase?
    ) async throws(ServiceError) -> StateDatabase? {
        if let database { return database }
        let before = opening
        // The task runs on the caller's executor: on the shared pool, it could not start while all threads of the pool
        // wait for this.
        let task = Task(executorPreference: currentExecutor) { await self.opened(after: before, open) }
        opening = task
        return try await task.value.get()
    }

    private func opened(
        after before: Task<Result<StateDatabase?, ServiceError>, Never>?,
        _ open: (isolated ProtectedState) async throws(ServiceError) -> StateDatabase?
    ) async -> Result<StateDatabase?, ServiceError> {
        _ = await before?.value
        if let database { return .success(database) }
        do throws(ServiceError) {
            database = try await open(self)
            return .success(database)
        } catch {
            return .failure(error)
        }
    }

    private func openExisting() async throws(ServiceError) -> StateDatabase? {
        guard try PrivateFiles.checkDirectory(directory.path) else { return nil }
        return try StateDatabase.openExisting(directory, keySource: try await keySource())
    }

    private func create() async throws(ServiceError) -> StateDatabase? {
        if let existing = try await openExisting() { return existing }
        try PrivateFiles.makeDirectory(directory.path)
        try trust.begin()
        do throws(ServiceError) {
            return try StateDatabase(directory: directory, keySource: try await newKeySource())
        } catch {
            // Another process has created the key at the same moment: use that key.
            guard error.code == .storeBusy else { throw error }
            return try StateDatabase(directory: directory, keySource: try await keySource())
        }
    }

    private var sealedKey: SealedStateKey { SealedStateKey(device: chip.device, directory: directory) }

    private func keySource() async throws(ServiceError) -> any StateKeySource {
        try await protecting { () async throws(ServiceError) in
            guard try sealedKey.exists else { return FileKeySource(directory: directory) }
            let device = try chip.inUse()
            return try await SealedStateKey(device: device, directory: directory).source()
        }
    }

    private func newKeySource() async throws(ServiceError) -> any StateKeySource {
        let file = FileKeySource(directory: directory)
        if try file.exists() { return file }
        return try await protecting { () async throws(ServiceError) in
            if try sealedKey.exists { return try await sealedKey.source() }
            do throws(ServiceError) {
                return try await SealedStateKey(device: try chip.inUse(), directory: directory).new()
            } catch {
                // Without a TPM, a file holds the key, and every answer says so. A TPM that was named must not fail
                // silently.
                guard error.code == .noChip, !chip.isNamed else { throw error }
                return file
            }
        }
    }

    private func protecting<Value>(
        _ body: () async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        do { return try await body() } catch { throw ServiceError(error, in: directory) }
    }
}

/// A serial queue that gets a thread even if all threads of the shared pool are blocked.
private final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "whorl.state")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

extension ServiceError {
    /// Creates the state directory's error for a failure of the vault that protects it.
    init(_ error: ServiceError, in directory: StateDirectory) {
        // A cancelled caller learns nothing about the TPM.
        if error.category == .storage || error.category == .cancelled {
            self = error
            return
        }
        self.init(
            .chipUnavailable,
            directory.path,
            message: error.message,
            recovery: error.recovery,
            cause: error.description
        )
    }
}

/// The generation counter of the enrolled fingers.
///
/// Once the vault is provisioned, the counter is in the TPM; before that, only the number in the database is used.
struct VaultGenerations: GenerationCounter {
    let state: ProtectedState

    func current(of profile: String, stored: UInt64) async throws(ServiceError) -> UInt64 {
        try await counting { vault async throws(ServiceError) in
            try await vault.generation(of: profile, stored: stored)
        } ?? stored
    }

    func advance(_ profile: String, to generation: UInt64) async throws(ServiceError) {
        _ = try await counting { vault async throws(ServiceError) in
            try await vault.advance(profile, to: generation)
        }
    }

    func hasCounter(_ profile: String) async throws(ServiceError) -> Bool {
        try await counting { vault async throws(ServiceError) in
            try await vault.hasCounter(profile)
        } ?? false
    }

    func restart(_ profile: String, stored: UInt64) async throws(ServiceError) -> UInt64 {
        try await counting { vault async throws(ServiceError) in
            do throws(ServiceError) {
                return try await vault.generation(of: profile, stored: stored)
            } catch {
                guard error.code == .counterLost else { throw error }
                // One above the stored number: if the program exits here, the set is not trusted yet.
                try await vault.acceptGeneration(of: profile, stored: stored + 1)
                return stored + 1
            }
        } ?? stored
    }

    private func counting<Value: Sendable>(
        _ body: (Vault) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value? {
        do {
            guard let vault = try await state.existingVault() else { return nil }
            return try await body(vault)
        } catch {
            guard error.code != .counterLost else {
                throw ServiceError(.enrollmentRolledBack, cause: error.description)
            }
            throw ServiceError(error, in: state.directory)
        }
    }
}
