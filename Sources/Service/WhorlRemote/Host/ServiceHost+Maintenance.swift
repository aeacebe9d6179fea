// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlIPC
import WhorlService

extension ServiceHost {
    func addMaintenance(_ router: inout GuardedRouter) {
        asking(&router, MaintenanceInterface.facts, for: .unconfined) {
            (_, services) async throws(StateError) in
            services.maintenance.facts
        }
        asking(&router, MaintenanceInterface.hasState, for: .unconfined) {
            (_, services) async throws(StateError) in
            Valued(try await services.maintenance.hasState())
        }
        asking(&router, MaintenanceInterface.changeMark, for: .unconfined) {
            (_, services) async throws(StateError) in
            Optionally(await services.maintenance.changeMark())
        }
        asking(&router, MaintenanceInterface.status, for: .unconfined) {
            (_, services) async throws(VaultError) in
            try await services.maintenance.vaultStatus()
        }
        asking(&router, MaintenanceInterface.provision, for: .unconfined) {
            (_, services) async throws(VaultError) in
            try await services.maintenance.provisionVault()
            return NoValue()
        }
        router.on(MaintenanceInterface.reset, for: .unconfined) {
            (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            try await authorize(.reset, call)
            return try await refusing { () async throws(VaultError) in
                try await services.maintenance.resetVault(withoutChip: asked.value)
            }
        }
        asking(&router, MaintenanceInterface.attempts, for: .unconfined) {
            (_, services) async throws(AuthenticationError) in
            Valued(try await services.maintenance.attempts())
        }
        router.on(MaintenanceInterface.log, for: .anyProgram) { (limit, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let confinement = try await rules.confinement(of: call.client)
            let lines = try await refusing { () async throws(AuthenticationError) in
                try await services.maintenance.log(
                    limit: min(limit.value, MaintenanceInterface.mostLogLines)
                )
            }
            return Valued(lines.filter { confinement.shows($0) })
        }
        asking(&router, MaintenanceInterface.lockFileFault, for: .unconfined) {
            (_, services) async throws(AuthenticationError) in
            Optionally(await services.maintenance.lockFileFault())
        }
        prompting(&router, MaintenanceInterface.reseal, for: .unconfined) {
            (asked, services, _, presenter) async throws(ServiceRefusal) in
            let resealing = try await refusing(presenter) { () async throws(ReleaseError) in
                try await services.maintenance.reseal(request(asked.request), presenter: presenter)
            }
            return (resealing, Attachments())
        }
    }
}

extension MaintenanceInterface {
    /// The most lines of the log in one reply, which then stays below the largest message.
    static let mostLogLines = 1000
}

extension ServiceHost {
    func addReaders(_ router: inout GuardedRouter) {
        asking(&router, ReaderInterface.list, for: .unconfined) {
            (_, services) async throws(AuthenticationError) in
            var infos: [ReaderInfo] = []
            for reader in try await services.readers.readers() { infos.append(await reader.info) }
            return Valued(infos)
        }
        asking(&router, ReaderInterface.chosen, for: .unconfined) {
            (_, services) async throws(AuthenticationError) in
            await (try await services.readers.chosenReader()).info
        }
        asking(&router, ReaderInterface.tryOut, for: .unconfinedAtReader) {
            (id, services) async throws(ReaderError) in
            let reader = try await reader(id.value, services.readers)
            // A prompt that waits for a touch there keeps the reader.
            return try await ReaderTurns.run("try out", on: reader, whenBusy: .fail) {
                () async throws(ReaderError) in
                try await reader.open()
                try await reader.close()
                return NoValue()
            }
        }
        router.on(ReaderInterface.prints, for: .unconfinedAtReader) {
            (id, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            return try await refusing { () async throws(ReaderError) in
                let reader = try await reader(id.value, services.readers)
                let prints = try await ReaderTurns.run("list", on: reader, whenBusy: .fail) {
                    () async throws(ReaderError) in
                    try await storedPrints(in: reader)
                }
                return Valued(prints.map { $0.metadata.shown(to: services.profile) })
            }
        }
        asking(&router, ReaderInterface.lockTrouble, for: .unconfined) {
            (_, services) async throws(ReaderError) in
            Optionally(services.readers.readerLockTrouble)
        }
        router.on(ReaderInterface.watch, for: .unconfined) { (_, call) async throws(ServiceRefusal) in
            let readers = try services(call.client.user).readers
            for await _ in await readers.readerEvents() { call.update(NoValue()) }
            return NoValue()
        }
    }

    private func storedPrints(
        in reader: any FingerprintReader
    ) async throws(ReaderError) -> [StoredPrint] {
        try await reader.open()
        let prints = await Result { () async throws(ReaderError) in
            try await reader.storedPrints(whenBusy: .wait)
        }
        // The first error says more.
        try? await reader.close()
        return try prints.get()
    }

    private func reader(
        _ id: ReaderID,
        _ readers: any ReaderService
    ) async throws(ReaderError) -> any FingerprintReader {
        let all: [any FingerprintReader]
        do throws(AuthenticationError) {
            all = try await readers.readers()
        } catch {
            throw ReaderError(.notFound, operation: "open", cause: error.message)
        }
        for reader in all where await reader.info.id == id { return reader }
        throw ReaderError(.notFound, operation: "open")
    }
}

extension EnrollmentMetadata {
    /// Returns the data of a print in a reader for a user, who is not told whose a print of another user is.
    func shown(to profile: String) -> EnrollmentMetadata { userName == profile ? self : EnrollmentMetadata() }
}
