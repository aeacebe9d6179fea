// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlIPC
import WhorlService

extension ServiceHost {
    func addMaintenance(_ router: inout Router) {
        asking(&router, MaintenanceInterface.facts) { (_, services) async throws(StateError) in
            services.maintenance.facts
        }
        asking(&router, MaintenanceInterface.hasState) { (_, services) async throws(StateError) in
            Valued(try await services.maintenance.hasState())
        }
        asking(&router, MaintenanceInterface.changeMark) { (_, services) async throws(StateError) in
            Optionally(await services.maintenance.changeMark())
        }
        asking(&router, MaintenanceInterface.status) { (_, services) async throws(VaultError) in
            try await services.maintenance.vaultStatus()
        }
        asking(&router, MaintenanceInterface.provision) { (_, services) async throws(VaultError) in
            try await services.maintenance.provisionVault()
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
        asking(&router, MaintenanceInterface.attempts) {
            (_, services) async throws(AuthenticationError) in
            Valued(try await services.maintenance.attempts())
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
        asking(&router, MaintenanceInterface.lockFileFault) {
            (_, services) async throws(AuthenticationError) in
            Optionally(await services.maintenance.lockFileFault())
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
}

extension MaintenanceInterface {
    /// The most lines of the log in one reply, which then stays below the largest message.
    static let mostLogLines = 1000
}
