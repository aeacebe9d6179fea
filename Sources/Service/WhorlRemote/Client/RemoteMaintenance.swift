// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import WhorlIPC
import WhorlService

/// The upkeep of a state that a service keeps.
struct RemoteMaintenance: MaintenanceService {
    let client: ServiceClient

    var facts: MaintenanceFacts {
        // The next call that can fail says why there is no answer.
        (try? client.callBlocking(MaintenanceInterface.facts, NoValue(), failing: StateError.self).parameters)
            ?? MaintenanceFacts()
    }

    func hasState() async throws(StateError) -> Bool {
        try await client.call(MaintenanceInterface.hasState, NoValue(), failing: StateError.self)
            .parameters.value
    }

    func changeMark() async -> [Int]? {
        // A mark that cannot be read counts as a change.
        try? await client.call(MaintenanceInterface.changeMark, NoValue(), failing: StateError.self)
            .parameters.value
    }

    func vaultStatus() async throws(VaultError) -> VaultStatus {
        try await client.call(MaintenanceInterface.status, NoValue(), failing: VaultError.self).parameters
    }

    func hasChip() async -> Bool {
        // A chip that the service cannot be asked about is as good as none.
        (try? await client.call(ItemInterface.hasChip, NoValue(), failing: VaultError.self).parameters.value)
            ?? false
    }

    func provisionVault() async throws(VaultError) {
        _ = try await client.call(MaintenanceInterface.provision, NoValue(), failing: VaultError.self)
    }

    func resetVault(withoutChip: Bool) async throws(VaultError) -> VaultReset {
        try await client.call(MaintenanceInterface.reset, .init(withoutChip), failing: VaultError.self)
            .parameters
    }

    func reseal(
        _ request: ConsentRequest,
        presenter: any PromptPresenter
    ) async throws(ReleaseError) -> Resealing {
        try await client.callPrompting(
            MaintenanceInterface.reseal,
            .init(request: request),
            presenter: presenter,
            failing: ReleaseError.self
        ).parameters
    }

    func attempts() async throws(AuthenticationError) -> [AttemptStatus] {
        try await client.call(MaintenanceInterface.attempts, NoValue(), failing: AuthenticationError.self)
            .parameters.value
    }

    func log(limit: Int) async throws(AuthenticationError) -> [AuditEntry] {
        try await client.call(MaintenanceInterface.log, .init(limit), failing: AuthenticationError.self)
            .parameters.value
    }

    func lockFileFault() async -> AuthenticationError? {
        do throws(AuthenticationError) {
            return try await client.call(
                MaintenanceInterface.lockFileFault,
                NoValue(),
                failing: AuthenticationError.self
            ).parameters.value
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

    func status() async throws(VaultError) -> KeyringStatus {
        try await client.call(KeyringInterface.status, NoValue(), failing: VaultError.self).parameters.value
    }

    func turnOn(_ request: ConsentRequest, presenter: any PromptPresenter) async throws(ReleaseError) {
        _ = try await client.callPrompting(
            KeyringInterface.turnOn,
            .init(request: request),
            presenter: presenter,
            failing: ReleaseError.self
        )
    }

    func turnOff(_ request: ConsentRequest, presenter: any PromptPresenter) async throws(ReleaseError) {
        _ = try await client.callPrompting(
            KeyringInterface.turnOff,
            .init(request: request),
            presenter: presenter,
            failing: ReleaseError.self
        )
    }
}
