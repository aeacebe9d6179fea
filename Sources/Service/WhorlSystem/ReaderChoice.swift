// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import WhorlEngine
internal import WhorlFingerprint
internal import WhorlLibfprint
internal import MockReader
internal import Synchronization
internal import WhorlService
internal import WhorlSupport

/// The selected reader.
///
/// A mock reader must be selected explicitly, and a virtual reader exists only if its variable specifies a socket. Both
/// are refused if the configuration does not allow them.
final class ReaderChoice: ReaderService {
    private let wanted: String?
    /// The file that specifies the reader; `nil` if no file does.
    private let namedIn: String?
    /// Whether virtual readers and mock readers may be used.
    let allowsPretended: Bool
    private let reach: ReaderReachability
    /// The record of readers that other programs could open; only in the service that owns the readers.
    private let openReaders: OpenReaders?
    /// The mock reader, which keeps its position in its script until the process exits.
    private let mock = Mutex<MockReaderSource?>(nil)

    init(
        wanted: String?,
        namedIn: String? = nil,
        allowsPretended: Bool,
        reach: ReaderReachability = .everywhere,
        openReaders: OpenReaders? = nil
    ) {
        self.wanted = wanted
        self.namedIn = namedIn
        self.reach = reach
        self.openReaders = openReaders
        self.allowsPretended = allowsPretended
    }

    /// Returns the source of readers: libfprint, or the selected mock reader.
    func source() throws(ServiceError) -> any ReaderSource {
        guard let script = mockScript else { return LibfprintSource.shared }
        guard allowsPretended else {
            throw ServiceError(
                .readerNotChosen,
                message: "Mock readers are not allowed here."
            )
        }
        return try mock.withLock { mock throws(ServiceError) in
            if let mock { return mock }
            do throws(MockScriptError) {
                let new = try MockReaderSource(script: script)
                mock = new
                return new
            } catch {
                throw ServiceError(
                    .readerNotChosen,
                    message: "Cannot read the mock reader's script: \(error.message)",
                    recovery: error.recovery
                )
            }
        }
    }

    /// Returns all readers that may be used.
    func readers() async throws(ServiceError) -> [any FingerprintReader] {
        let source = try source()
        let all = try await ofReader(await source.readers())
        guard !allowsPretended else { return all }
        var real: [any FingerprintReader] = []
        for reader in all where await reader.info.kind == .hardware { real.append(reader) }
        return real
    }

    /// Returns the selected reader; `nil` if none is connected.
    func chosen() async throws(ServiceError) -> (any FingerprintReader)? {
        let readers = try await readers()
        var ids: [String] = []
        for reader in readers { ids.append(await reader.info.id.rawValue) }
        if let wanted, mockScript == nil {
            guard let index = ids.firstIndex(of: wanted) else {
                throw ServiceError(
                    .readerNotChosen,
                    message: "Reader \(DisplayText.clean(wanted, limit: 60)) not found.",
                    recovery: ids.isEmpty
                        ? "Connect it, or run `whorl doctor` to find out why."
                        : "Connected: \(ids.joined(separator: ", ")). \(wayToNameOne)"
                )
            }
            return try await reachable(readers[index])
        }
        if readers.isEmpty { try ReaderOwnership.refuseUnlisted(isService: openReaders != nil) }
        let near = try await reachable(among: readers)
        guard readers.count <= 1 || near != nil else {
            throw ServiceError(
                .readerNotChosen,
                message:
                    "Choose one of the \(readers.count) connected readers: \(ids.joined(separator: ", ")).",
                recovery: "Choose one with `--reader` or WHORL_READER."
            )
        }
        return near
    }

    /// Returns a reader that can be touched and that this process can use.
    ///
    /// - Throws: `biometryNotAvailable` if the reader is built in and the lid is closed, or it belongs to the service,
    ///   or this is the service and the reader stores prints but others can open it.
    func reachable(
        _ reader: any FingerprintReader
    ) async throws(ServiceError) -> any FingerprintReader {
        if let obstacle = await obstacle(to: reader) { throw obstacle }
        return reader
    }

    /// Returns the only reader that can be touched; `nil` if several can be touched or there are no readers.
    ///
    /// - Throws: The reason why the last of the readers cannot be touched, if none can be.
    private func reachable(
        among readers: [any FingerprintReader]
    ) async throws(ServiceError) -> (any FingerprintReader)? {
        var near: [any FingerprintReader] = []
        var obstacle: ServiceError?
        for reader in readers {
            if let found = await self.obstacle(to: reader) { obstacle = found } else { near.append(reader) }
        }
        if near.isEmpty, let obstacle { throw obstacle }
        return near.count == 1 ? near[0] : nil
    }

    private func obstacle(to reader: any FingerprintReader) async -> ServiceError? {
        do throws(ServiceError) {
            if let openReaders {
                let info = await reader.info
                if info.storage == .reader, info.access.state == .open { try openReaders.refuse(info) }
            } else {
                try await ReaderOwnership.refuse(reader)
            }
        } catch {
            return error
        }
        return await reach.obstacle(to: reader)
    }

    /// Returns the only real reader for root, which may use it even though it belongs to the service.
    ///
    /// - Throws: The errors of ``chosenReader()``.
    func chosenReaderOfRoot() async throws(ServiceError) -> any FingerprintReader {
        guard geteuid() == 0, mockScript == nil else { return try await chosenReader() }
        var meant: [any FingerprintReader] = []
        for reader in try await readers() {
            let id = await reader.info.id.rawValue
            if wanted.map({ $0 == id }) ?? true { meant.append(reader) }
        }
        if meant.count == 1 { return meant[0] }
        return try await chosenReader()
    }

    /// The sentence that explains how to select another reader.
    private var wayToNameOne: String {
        namedIn.map { "\($0) allows only the other reader ([Reader] Id)." }
            ?? "Choose one with `--reader` or WHORL_READER."
    }

    /// Returns the selected reader.
    func chosenReader() async throws(ServiceError) -> any FingerprintReader {
        guard let reader = try await chosen() else {
            throw ServiceError(ReaderError(.notFound, operation: "enumerate"))
        }
        return reader
    }

    var readerLockTrouble: ReaderError? { LibfprintSource.lockTrouble }

    /// Returns an event for each reader that is connected or disconnected; no events if there is no source of readers.
    func readerEvents() async -> AsyncStream<Void> {
        // Without a source, there are no readers and no events.
        guard let changes = try? await source().changes() else { return AsyncStream { _ in } }
        let (events, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let forwarding = Task(executorPreference: currentExecutor) {
            for await _ in changes { sink.yield() }
        }
        sink.onTermination = { _ in forwarding.cancel() }
        return events
    }

    /// The text after `mock:`; `nil` if no mock reader is selected.
    private var mockScript: String? {
        guard let wanted, wanted == "mock" || wanted.hasPrefix("mock:") else { return nil }
        return String(wanted.dropFirst("mock:".count))
    }
}
