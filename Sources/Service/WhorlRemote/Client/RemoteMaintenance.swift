// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import WhorlIPC
import WhorlService

/// The upkeep of a state that a service keeps.
struct RemoteMaintenance: MaintenanceService {
    let client: ServiceClient

    var facts: MaintenanceFacts {
        // The next call that can fail says why there is no answer.
        (try? client.callBlocking(MaintenanceInterface.facts, NoValue()).parameters) ?? MaintenanceFacts()
    }

    func hasState() async throws(ServiceError) -> Bool {
        try await client.call(MaintenanceInterface.hasState, NoValue()).parameters.value
    }

    func changeMark() async -> [Int]? {
        // A mark that cannot be read counts as a change.
        try? await client.call(MaintenanceInterface.changeMark, NoValue()).parameters.value
    }

    func vaultStatus() async throws(ServiceError) -> VaultStatus {
        try await client.call(MaintenanceInterface.status, NoValue()).parameters
    }

    func hasChip() async -> Bool {
        // A chip that the service cannot be asked about is as good as none.
        (try? await client.call(ItemInterface.hasChip, NoValue()).parameters.value) ?? false
    }

    func provisionVault() async throws(ServiceError) {
        _ = try await client.call(MaintenanceInterface.provision, NoValue())
    }

    func resetVault(withoutChip: Bool) async throws(ServiceError) -> VaultReset {
        try await client.call(MaintenanceInterface.reset, .init(withoutChip)).parameters
    }

    func reseal(
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ServiceError) -> Resealing {
        try await client.callPrompting(
            MaintenanceInterface.reseal,
            .init(request: request),
            presenter: presenter
        ).parameters
    }

    func attempts() async throws(ServiceError) -> [AttemptStatus] {
        try await client.call(MaintenanceInterface.attempts, NoValue()).parameters.value
    }

    func log(limit: Int) async throws(ServiceError) -> [AuditEntry] {
        try await client.call(MaintenanceInterface.log, .init(limit)).parameters.value
    }

    func lockFileFault() async -> ServiceError? {
        do throws(ServiceError) {
            return try await client.call(MaintenanceInterface.lockFileFault, NoValue()).parameters.value
        } catch {
            return error
        }
    }

    /// The service keeps its own connection to the chip.
    func close() async {}
}

/// The keyring that a login by touch opens, in a service.
struct RemoteKeyring: KeyringService {
    let client: ServiceClient

    func status() async throws(ServiceError) -> KeyringStatus {
        try await client.call(KeyringInterface.status, NoValue()).parameters.value
    }

    func turnOn(_ request: ConsentRequest, presenter: any PromptPresenter) async throws(ServiceError) {
        _ = try await client.callPrompting(
            KeyringInterface.turnOn,
            .init(request: request),
            presenter: presenter
        )
    }

    func turnOff(_ request: ConsentRequest, presenter: any PromptPresenter) async throws(ServiceError) {
        _ = try await client.callPrompting(
            KeyringInterface.turnOff,
            .init(request: request),
            presenter: presenter
        )
    }
}
