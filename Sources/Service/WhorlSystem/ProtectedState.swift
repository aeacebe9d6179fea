// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import Dispatch
internal import StateStore
internal import Vault
internal import WhorlSupport

/// The state directory under its protection: opened when it is first needed, with the key from where it is kept, and
/// with the chip only where it keeps the key.
///
/// A directory that is new gets its key from the chip where there is one. One that is there stays as it is: bringing its
/// key into the chip's keeping is for its owner to say (`whorl vault provision`).
actor ProtectedState {
    let directory: StateDirectory
    let chip: ChipChoice

    /// Not the shared pool: all its threads may wait, in calls that block, for what is opened here.
    private nonisolated let executor = QueueExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var database: StateDatabase?
    private var vault: Vault?
    /// The opening that is going on; the next one waits for it.
    private var opening: Task<Result<StateDatabase?, StateError>, Never>?

    init(_ directory: StateDirectory, _ chip: ChipChoice) {
        self.directory = directory
        self.chip = chip
    }

    /// The database; `nil` when nothing was ever stored.
    func existing() async throws(StateError) -> StateDatabase? {
        try await opened { state async throws(StateError) in try await state.openExisting() }
    }

    /// The database, made when nothing was ever stored.
    func created() async throws(StateError) -> StateDatabase {
        let database = try await opened { state async throws(StateError) in try await state.create() }
        guard let database else { throw StateError(.failed, path: directory.path) }
        return database
    }

    /// The vault; `nil` when nothing was ever stored.
    func existingVault() async throws(VaultError) -> Vault? {
        let found: StateDatabase?
        do { found = try await existing() } catch { throw VaultError(.store(error), error.path) }
        return found.map(vault(on:))
    }

    /// The vault for an item: a chip is there, or the vault was provisioned with one.
    ///
    /// - Returns: `nil` when nothing was ever stored, and there is a chip.
    /// - Throws: `noChip`; `store`.
    func chipVault() async throws(VaultError) -> Vault? {
        let existing = try await existingVault()
        if let existing, try existing.isProvisioned { return existing }
        try await chip.reach()
        return existing
    }

    /// The same, made when nothing was ever stored.
    ///
    /// - Throws: `noChip`, and then nothing was made; `store`.
    func madeVault() async throws(VaultError) -> Vault {
        if let existing = try await chipVault() { return existing }
        do {
            return vault(on: try await created())
        } catch {
            throw VaultError(.store(error), error.path)
        }
    }

    private func vault(on database: StateDatabase) -> Vault {
        if let vault { return vault }
        let made = Vault(device: chip.device, database: database)
        vault = made
        return made
    }

    /// One opening at a time; nobody's cancellation ends it.
    private func opened(
        _ open: @escaping @Sendable (isolated ProtectedState) async throws(StateError) -> StateDatabase?
    ) async throws(StateError) -> StateDatabase? {
        if let database { return database }
        let before = opening
        // Where its caller runs: on the shared pool it would not begin while all its threads wait for this.
        let task = Task(executorPreference: currentExecutor) { await self.opened(after: before, open) }
        opening = task
        return try await task.value.get()
    }

    private func opened(
        after before: Task<Result<StateDatabase?, StateError>, Never>?,
        _ open: (isolated ProtectedState) async throws(StateError) -> StateDatabase?
    ) async -> Result<StateDatabase?, StateError> {
        _ = await before?.value
        if let database { return .success(database) }
        do throws(StateError) {
            database = try await open(self)
            return .success(database)
        } catch {
            return .failure(error)
        }
    }

    private func openExisting() async throws(StateError) -> StateDatabase? {
        guard try PrivateFiles.checkDirectory(directory.path) else { return nil }
        return try StateDatabase.openExisting(directory, keySource: try await keySource())
    }

    private func create() async throws(StateError) -> StateDatabase? {
        if let existing = try await openExisting() { return existing }
        try PrivateFiles.makeDirectory(directory.path)
        do throws(StateError) {
            return try StateDatabase(directory: directory, keySource: try await newKeySource())
        } catch {
            // Another process has made the key at the same moment: that one is the key.
            guard error.code == .busy else { throw error }
            return try StateDatabase(directory: directory, keySource: try await keySource())
        }
    }

    private var sealedKey: SealedStateKey { SealedStateKey(device: chip.device, directory: directory) }

    private func keySource() async throws(StateError) -> any StateKeySource {
        try await protecting { () async throws(VaultError) in
            guard try sealedKey.exists else { return FileKeySource(directory: directory) }
            let device = try chip.inUse()
            return try await SealedStateKey(device: device, directory: directory).source()
        }
    }

    private func newKeySource() async throws(StateError) -> any StateKeySource {
        let file = FileKeySource(directory: directory)
        if try file.exists() { return file }
        return try await protecting { () async throws(VaultError) in
            if try sealedKey.exists { return try await sealedKey.source() }
            do throws(VaultError) {
                return try await SealedStateKey(device: try chip.inUse(), directory: directory).new()
            } catch {
                // Without a chip the key is a file's, and every answer says so. One that was named must not fail unheard.
                guard error.code == .noChip, !chip.isNamed else { throw error }
                return file
            }
        }
    }

    private func protecting<Value>(
        _ body: () async throws(VaultError) -> Value
    ) async throws(StateError) -> Value {
        do { return try await body() } catch { throw StateError(error, in: directory) }
    }
}

/// A serial queue, which gets a thread even when every thread of the shared pool waits.
private final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "whorl.state")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

extension StateError {
    /// What a failure of the vault means for the state that it protects.
    init(_ error: VaultError, in directory: StateDirectory) {
        if case .store(let error) = error.code {
            self = error
            return
        }
        self.init(
            .chipUnavailable,
            path: directory.path,
            message: error.message,
            recovery: error.recovery,
            cause: error.description
        )
    }
}
