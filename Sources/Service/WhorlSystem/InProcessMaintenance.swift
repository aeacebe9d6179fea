// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlStateStore
import WhorlTPM
import WhorlVault
import WhorlService

/// Maintains the state directory and the TPM that this process uses.
struct InProcessMaintenance: StateUpkeep {
    let engine: AuthenticationEngine
    let state: ProtectedState
    let chip: ChipChoice

    func add(to table: inout HandlerTable) {
        table.on(facts)
        table.on(hasState)
        table.on(changeMark)
        table.on(status)
        table.on(hasChip)
        table.on(provision)
        table.on(reset)
        table.on(deleteEverything)
        table.on(reseal)
        table.on(attempts)
        table.on(log)
        table.on(lockFileFault)
    }

    /// Refuses, because the log is open here; the system service deletes the directory.
    private func deleteEverything(_: DeleteEverything, _: Prompter) async throws(ServiceError) {
        throw ServiceError(
            .notPermitted,
            message: "Only the system service deletes everything of a user.",
            recovery: "Delete the directory \(state.directory.path).",
            cause: "no system service"
        )
    }

    private func facts(_: ReadFacts) -> MaintenanceFacts {
        MaintenanceFacts(
            statePath: state.directory.path,
            tpmAddress: chip.device.address.text,
            isTPMNamed: chip.isNamed,
            usedSimulatedTPM: chip.usedSimulated,
            isProtectedByHardware: chip.isReal && VaultStatus.isProvisioned(state.directory)
        )
    }

    private func hasState(_: HasState) async throws(ServiceError) -> Bool {
        try await state.existing() != nil
    }

    private func changeMark(_: ReadChangeMark) async -> [Int]? {
        // An unreadable state has no mark, and counts as changed.
        guard let database = try? await state.existing() else { return nil }
        return try? await database.changeMark()
    }

    private func status(_: ReadVaultStatus) async throws(ServiceError) -> VaultStatus { try await status() }

    private func hasChip(_: HasChip) async -> Bool {
        // A TPM that cannot be reached counts as missing here.
        (try? await status().obstacle == nil) ?? false
    }

    private func status() async throws(ServiceError) -> VaultStatus {
        try await VaultStatus.read(device: try chip.inUse(), directory: state.directory)
    }

    private func provision(_: ProvisionVault) async throws(ServiceError) {
        try await chip.reach()
        _ = try await state.created()
        try await maintenance().provision()
    }

    private func reset(_ asked: ResetVault) async throws(ServiceError) -> VaultReset {
        let state = state
        return try await maintenance().reset(withoutChip: asked.withoutChip) {
            () async throws(ServiceError) in
            guard let database = try await state.existing() else { return nil }
            // The counters are deleted, and the fingers are kept.
            try await EnrollmentStore(database: database).forgetCounters()
            return database
        }
    }

    /// Removes what the TPM stores for this directory, which is deleted afterwards.
    func forget() async throws(ServiceError) {
        guard let database = try await state.existing() else { return }
        try await maintenance().forget(database)
    }

    private func reseal(
        _ asked: ResealItems,
        _ prompter: Prompter
    ) async throws(ServiceError) -> Resealing {
        let profile = engine.profile
        guard let vault = try await state.vaultInChip() else { throw ServiceError(.passcodeNotSet, profile) }
        let shown = try await engine.passcode(
            for: .reseal,
            to: "bind your secrets to the way this computer starts now",
            asked.request,
            vault,
            presenter: prompter.presenter
        )
        return try await vault.reseal(profile, shown: shown)
    }

    private func attempts(_: ListAttempts) async throws(ServiceError) -> [AttemptStatus] {
        try await engine.attempts()
    }

    private func log(_ asked: ReadLog) async throws(ServiceError) -> [AuditEntry] {
        guard let database = try await state.existing() else { return [] }
        return try await AuditLog(database: database)
            .entries(limit: asked.limit, before: asked.before, profile: engine.profile)
    }

    func note(_ entry: AuditEntry, beginsLog: Bool) async {
        do throws(ServiceError) {
            let database: StateDatabase? = try await beginsLog ? state.created() : state.existing()
            if let database { try await AuditLog(database: database).append(entry) }
        } catch {
            // The journal has the same information, and a finished call is not undone because of a log line.
        }
    }

    private func lockFileFault(_: ReadLockFileFault) async -> ServiceError? { await engine.turnsFault() }

    /// When a program closes `/dev/tpmrm0`, the kernel flushes everything that the program has loaded.
    ///
    /// With other TPMs, it stays loaded.
    func close() async { await chip.device.close() }

    private func maintenance() throws(ServiceError) -> VaultMaintenance {
        VaultMaintenance(device: try chip.inUse(), directory: state.directory)
    }
}
