// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlIPC
import WhorlService

extension ServiceHost {
    func addMaintenance(_ router: inout GuardedRouter) {
        asking(&router, MaintenanceInterface.facts) {
            (_, services) async throws(ServiceError) in
            services.maintenance.facts
        }
        asking(&router, MaintenanceInterface.hasState) {
            (_, services) async throws(ServiceError) in
            Valued(try await services.maintenance.hasState())
        }
        asking(&router, MaintenanceInterface.changeMark) {
            (_, services) async throws(ServiceError) in
            Optionally(await services.maintenance.changeMark())
        }
        asking(&router, MaintenanceInterface.status) {
            (_, services) async throws(ServiceError) in
            try await services.maintenance.vaultStatus()
        }
        asking(&router, MaintenanceInterface.provision) {
            (_, services) async throws(ServiceError) in
            try await services.maintenance.provisionVault()
            return NoValue()
        }
        router.on(MaintenanceInterface.reset) {
            (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            try await authorize(.reset, call)
            return try await refusing(await services.maintenance.resetVault(withoutChip: asked.value))
        }
        asking(&router, MaintenanceInterface.attempts) {
            (_, services) async throws(ServiceError) in
            Valued(try await services.maintenance.attempts())
        }
        router.on(MaintenanceInterface.log) { (limit, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let confinement = try await rules.confinement(of: call.client)
            let lines = try await refusing(
                await services.maintenance.log(
                    limit: min(limit.value, MaintenanceInterface.mostLogLines)
                )
            )
            return Valued(lines.filter { confinement.shows($0) })
        }
        asking(&router, MaintenanceInterface.lockFileFault) {
            (_, services) async throws(ServiceError) in
            Optionally(await services.maintenance.lockFileFault())
        }
        prompting(&router, MaintenanceInterface.reseal) {
            (asked, services, _, presenter) async throws(ServiceRefusal) in
            let resealing = try await refusing(
                presenter,
                await services.maintenance.reseal(request(asked.request), presenter: presenter)
            )
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
        asking(&router, ReaderInterface.list) {
            (_, services) async throws(ServiceError) in
            var infos: [ReaderInfo] = []
            for reader in try await services.readers.readers() { infos.append(await reader.info) }
            return Valued(infos)
        }
        asking(&router, ReaderInterface.chosen) {
            (_, services) async throws(ServiceError) in
            await (try await services.readers.chosenReader()).info
        }
        asking(&router, ReaderInterface.tryOut) {
            (id, services) async throws(ServiceError) in
            try await reading(await tryOut(id.value, services.readers))
        }
        asking(&router, ReaderInterface.prints) {
            (id, services) async throws(ServiceError) in
            let prints = try await reading(await storedPrints(id.value, services.readers))
            return Valued(prints.map { $0.metadata.shown(to: services.profile) })
        }
        asking(&router, ReaderInterface.lockTrouble) {
            (_, services) async throws(ServiceError) in
            Optionally(services.readers.readerLockTrouble)
        }
        router.on(ReaderInterface.watch) { (_, call) async throws(ServiceRefusal) in
            let readers = try services(call.client.user).readers
            for await _ in await readers.readerEvents() { call.update(NoValue()) }
            return NoValue()
        }
    }

    /// Runs what a reader does, whose failure crosses with all of its values.
    private func reading<Value>(
        _ answer: @autoclosure () async throws(ReaderError) -> Value
    ) async throws(ServiceError) -> Value {
        do { return try await answer() } catch { throw ServiceError(crossing: error) }
    }

    private func tryOut(_ id: ReaderID, _ readers: any ReaderService) async throws(ReaderError) -> NoValue {
        let reader = try await reader(id, readers)
        // A prompt that waits for a touch there keeps the reader.
        return try await ReaderTurns.run("try out", on: reader, whenBusy: .fail, reader.tryOut)
    }

    private func storedPrints(
        _ id: ReaderID,
        _ readers: any ReaderService
    ) async throws(ReaderError) -> [StoredPrint] {
        let reader = try await reader(id, readers)
        return try await ReaderTurns.run("list", on: reader, whenBusy: .fail, reader.openedPrints)
    }

    private func reader(
        _ id: ReaderID,
        _ readers: any ReaderService
    ) async throws(ReaderError) -> any FingerprintReader {
        let all: [any FingerprintReader]
        do throws(ServiceError) {
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

extension FingerprintReader {
    fileprivate func tryOut() async throws(ReaderError) -> NoValue {
        try await open()
        try await close()
        return NoValue()
    }

    fileprivate func openedPrints() async throws(ReaderError) -> [StoredPrint] {
        try await open()
        let prints = await Result<_, ReaderError>(of: try await storedPrints(whenBusy: .wait))
        // The first error says more.
        try? await close()
        return try prints.get()
    }
}
