// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlIPC
import WhorlService

extension ServiceHost {
    func addMaintenance(_ router: inout GuardedRouter) {
        router.on(ResetVault.self) { (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            try await authorize(.reset, call)
            return try await refusing(await services.ask(asked))
        }
        router.onPrompting(DeleteEverything.self) { (asked, call) async throws(ServiceRefusal) in
            try await answer(asked, call) { (operation, presenter) async throws(ServiceRefusal) in
                try await deleteEverything(operation.request, call, presenter)
            }
        }
    }

    private func deleteEverything(
        _ asked: ConsentRequest,
        _ call: ServiceCall,
        _ presenter: WirePresenter<NoValue>
    ) async throws(ServiceRefusal) -> NoValue {
        guard let logins else {
            throw ServiceError(.notPermitted, cause: "this service does not delete the directory").refusal
        }
        var request = asked
        request.allowsFirst = { [rules] () async throws(ServiceError) in
            try await rules.authorize(.reset, call.client, mayAsk: await presenter.isInteractive)
        }
        try await refusing(presenter, await logins.forget(call.client.user.uid, request, presenter))
        return NoValue()
    }
}

extension ReadLog: ConfinedOperation {
    /// The maximum number of log lines in one reply.
    private static let mostLines = 1000

    /// The maximum size of their texts, which keeps the reply below the maximum message size.
    private static let mostBytes = 640 << 10

    func within(_ names: NameSpace) throws(ServiceError) -> ReadLog {
        ReadLog(limit: min(limit, Self.mostLines), before: before)
    }

    static func shown(_ reply: Valued<[AuditEntry]>, within names: NameSpace) -> Valued<[AuditEntry]> {
        var left = mostBytes
        return Valued(
            reply.value.filter { names.confinement.shows($0) }.prefix { line in
                left -= line.mostBytes
                return left >= 0
            }
        )
    }
}

extension AuditEntry {
    /// The size of the line in a message, with all its texts escaped and the names of the members.
    fileprivate var mostBytes: Int {
        let texts = [application, outcome, detail, reader?.rawValue, asker?.confinedAs, asker?.unit]
        return 400 + texts.reduce(0) { $0 + 2 * ($1?.utf8.count ?? 0) }
    }
}

extension ServiceHost {
    func addReaders(_ router: inout GuardedRouter) {
        router.on(ReaderInterface.List.self) { (_, call) async throws(ServiceRefusal) in
            let readers = try services(call.client.user).readers
            var infos: [ReaderInfo] = []
            for reader in try await refusing(await readers.readers()) { infos.append(await reader.info) }
            return Valued(infos)
        }
        router.on(ReaderInterface.Chosen.self) { (_, call) async throws(ServiceRefusal) in
            let readers = try services(call.client.user).readers
            return await (try await refusing(await readers.chosenReader())).info
        }
        router.on(ReaderInterface.TryOut.self) { (asked, call) async throws(ServiceRefusal) in
            let readers = try services(call.client.user).readers
            return try await reading(await tryOut(asked.value, readers))
        }
        router.on(ReaderInterface.Prints.self) { (asked, call) async throws(ServiceRefusal) in
            let services = try services(call.client.user)
            let prints = try await reading(await storedPrints(asked.value, services.readers))
            return Valued(prints.map { $0.metadata.shown(to: services.profile) })
        }
        router.on(ReaderInterface.LockTrouble.self) { (_, call) async throws(ServiceRefusal) in
            Optionally(try services(call.client.user).readers.readerLockTrouble)
        }
        router.on(ReaderInterface.Watch.self) { (_, call) async throws(ServiceRefusal) in
            let readers = try services(call.client.user).readers
            for await _ in await readers.readerEvents() { call.update(NoValue()) }
            return NoValue()
        }
    }

    /// Runs an operation on a reader; if it fails, the caller receives all values of the failure.
    func reading<Value>(
        _ answer: @autoclosure () async throws(ReaderError) -> Value
    ) async throws(ServiceRefusal) -> Value {
        do { return try await answer() } catch { throw ServiceError(crossing: error).refusal }
    }

    private func tryOut(_ id: ReaderID, _ readers: any ReaderService) async throws(ReaderError) -> NoValue {
        let reader = try await reader(id, readers)
        // A prompt that waits for a touch there keeps the reader busy.
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
    /// Returns the metadata of a print in a reader; the owner is omitted if the print belongs to another user.
    func shown(to profile: String) -> EnrollmentMetadata { userName == profile ? self : EnrollmentMetadata() }
}

extension FingerprintReader {
    fileprivate func tryOut() async throws(ReaderError) -> NoValue {
        try await open()
        try await close()
        return NoValue()
    }

    fileprivate func openedPrints() async throws(ReaderError) -> [StoredPrint] {
        try await opened { reader throws(ReaderError) in try await reader.storedPrints(whenBusy: .wait) }
    }

    /// Opens the reader for an operation, and closes it afterwards, even if the caller has closed the connection.
    func opened<Value: Sendable>(
        _ work: (Self) async throws(ReaderError) -> Value
    ) async throws(ReaderError) -> Value {
        try await open()
        let result = await Result<_, ReaderError>(of: try await work(self))
        // The first error is more specific.
        await Task { try? await close() }.value
        return try result.get()
    }
}
