// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlIPC
import WhorlService

extension ServiceHost {
    func addMaintenance(_ router: inout Router) {
        onMaintenance(&router, MaintenanceInterface.facts) { (_, service) async throws(StateError) in
            service.facts
        }
        onMaintenance(&router, MaintenanceInterface.hasState) { (_, service) async throws(StateError) in
            Valued(try await service.hasState())
        }
        onMaintenance(&router, MaintenanceInterface.changeMark) { (_, service) async throws(StateError) in
            Optionally(await service.changeMark())
        }
        onMaintenance(&router, MaintenanceInterface.status) { (_, service) async throws(VaultError) in
            try await service.vaultStatus()
        }
        onMaintenance(&router, MaintenanceInterface.provision) { (_, service) async throws(VaultError) in
            try await service.provisionVault()
            return NoValue()
        }
        router.on(MaintenanceInterface.reset) { (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            try refuseConfined(call)
            try await authorize(.reset, call)
            return try await refusing { () async throws(VaultError) in
                try await services.maintenance.resetVault(withoutChip: asked.value)
            }
        }
        onMaintenance(&router, MaintenanceInterface.attempts) {
            (_, service) async throws(AuthenticationError) in
            Valued(try await service.attempts())
        }
        router.on(MaintenanceInterface.log) { (limit, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let confinement = try rules.confinement(of: call.client)
            let lines = try await refusing { () async throws(AuthenticationError) in
                try await services.maintenance.log(
                    limit: min(limit.value, MaintenanceInterface.mostLogLines)
                )
            }
            return Valued(lines.filter { confinement.shows($0) })
        }
        onMaintenance(&router, MaintenanceInterface.lockFileFault) {
            (_, service) async throws(AuthenticationError) in
            Optionally(await service.lockFileFault())
        }
        router.on(MaintenanceInterface.reseal) {
            (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            // The answer names items of all programs.
            try refuseConfined(call)
            let passcode = try call.secretBox(at: asked.value)
            return try await refusing { () async throws(VaultError) in
                try await services.maintenance.reseal(passcode)
            }
        }
    }

    private func onMaintenance<Parameters, Reply, Failure: RemoteFailure>(
        _ router: inout Router,
        _ method: ServiceMethod<Parameters, Reply>,
        _ body: @escaping @Sendable (Parameters, any MaintenanceService) async throws(Failure) -> Reply
    ) {
        router.on(method) { (parameters, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            return try await refusing { () async throws(Failure) in
                try await body(parameters, services.maintenance)
            }
        }
    }
}

extension MaintenanceInterface {
    /// The most lines of the log in one reply, which then stays below the largest message.
    static let mostLogLines = 1000
}
