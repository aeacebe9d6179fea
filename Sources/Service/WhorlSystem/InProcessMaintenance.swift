// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlEnrollment
import WhorlStateStore
import WhorlTPM
import WhorlVault
import WhorlService

/// The upkeep of the state directory and the chip that this process uses.
struct InProcessMaintenance: MaintenanceService {
    let engine: AuthenticationEngine
    let state: ProtectedState
    let chip: ChipChoice

    var facts: MaintenanceFacts {
        MaintenanceFacts(
            statePath: state.directory.path,
            tpmAddress: chip.device.address.text,
            isTPMNamed: chip.isNamed,
            usedSimulatedTPM: chip.usedSimulated,
            isProtectedByHardware: chip.isReal && VaultStatus.isProvisioned(state.directory)
        )
    }

    func hasState() async throws(ServiceError) -> Bool { try await state.existing() != nil }

    func changeMark() async -> [Int]? {
        // A state that cannot be read has no mark, and counts as changed.
        guard let database = try? await state.existing() else { return nil }
        return try? await database.changeMark()
    }

    func vaultStatus() async throws(ServiceError) -> VaultStatus {
        try await VaultStatus.read(device: try chip.inUse(), directory: state.directory)
    }

    func provisionVault() async throws(ServiceError) {
        try await chip.reach()
        _ = try await state.created()
        try await maintenance().provision()
    }

    func resetVault(withoutChip: Bool) async throws(ServiceError) -> VaultReset {
        let state = state
        return try await maintenance().reset(withoutChip: withoutChip) { () async throws(ServiceError) in
            guard let database = try await state.existing() else { return nil }
            // The counters are deleted, and the fingers stay.
            try await EnrollmentStore(database: database).forgetCounters()
            return database
        }
    }

    func reseal(
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Resealing {
        let profile = engine.profile
        guard let vault = try await state.vaultInChip() else { throw ServiceError(.passcodeNotSet, profile) }
        let shown = try await engine.passcode(
            for: .reseal,
            to: "bind your secrets to the way this computer starts now",
            request,
            vault,
            presenter: presenter
        )
        return try await vault.reseal(profile, shown: shown)
    }

    func attempts() async throws(ServiceError) -> [AttemptStatus] { try await engine.attempts() }

    func log(limit: Int) async throws(ServiceError) -> [AuditEntry] {
        guard let database = try await state.existing() else { return [] }
        return try await AuditLog(database: database).entries(limit: limit, profile: engine.profile)
    }

    func note(_ entry: AuditEntry) async {
        // The journal has the same, and a call that was made is not undone for its line.
        guard let database = try? await state.existing() else { return }
        try? await AuditLog(database: database).append(entry)
    }

    func lockFileFault() async -> ServiceError? { await engine.turnsFault() }

    /// The kernel frees what a program has loaded when the program closes `/dev/tpmrm0`; other TPMs keep what is
    /// loaded.
    func close() async { await chip.device.close() }

    private func maintenance() throws(ServiceError) -> VaultMaintenance {
        VaultMaintenance(device: try chip.inUse(), directory: state.directory)
    }
}
