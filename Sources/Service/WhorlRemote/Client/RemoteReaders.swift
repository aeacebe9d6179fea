// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import WhorlIPC
import WhorlService

/// The readers that a service in another process uses.
struct RemoteReaders: ReaderService {
    let client: ServiceClient

    func readers() async throws(ServiceError) -> [any FingerprintReader] {
        let infos = try await client.call(ReaderInterface.List()).value
        return infos.map { RemoteReader(knownInfo: $0, client: client) }
    }

    func chosenReader() async throws(ServiceError) -> any FingerprintReader {
        let info = try await client.call(ReaderInterface.Chosen())
        return RemoteReader(knownInfo: info, client: client)
    }

    var readerLockTrouble: ReaderError? {
        do throws(ServiceError) {
            return try client.callBlocking(ReaderInterface.LockTrouble()).parameters.value
        } catch {
            return ReaderError(error)
        }
    }

    func readerEvents() async -> AsyncStream<Void> {
        let client = client
        let (events, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watching = Task {
            // If the service hangs up, it sends no further events, and the stream ends.
            _ = try? await client.call(ReaderInterface.Watch(), update: { _ in sink.yield() })
            sink.finish()
        }
        sink.onTermination = { _ in watching.cancel() }
        return events
    }
}

/// A reader that a service uses.
///
/// Programs can get information about it, but cannot scan fingers with it.
private final class RemoteReader: FingerprintReader {
    let knownInfo: ReaderInfo
    let client: ServiceClient

    init(knownInfo: ReaderInfo, client: ServiceClient) {
        self.knownInfo = knownInfo
        self.client = client
    }

    var info: ReaderInfo {
        get async { knownInfo }
    }

    /// Checks whether the service can open the reader; the service closes it again immediately.
    func open() async throws(ReaderError) {
        _ = try await answer(of: ReaderInterface.TryOut(value: knownInfo.id))
    }

    func close() async throws(ReaderError) {}

    /// Returns the metadata of the stored prints, without their templates, which never leave the service.
    func storedPrints(whenBusy: BusyPolicy) async throws(ReaderError) -> [StoredPrint] {
        try await answer(of: ReaderInterface.Prints(value: knownInfo.id)).value.map {
            StoredPrint(template: Template(bytes: []), metadata: $0)
        }
    }

    private func answer<Asked: ServiceOperation>(
        of operation: Asked
    ) async throws(ReaderError) -> Asked.Reply {
        do throws(ServiceError) {
            return try await client.call(operation)
        } catch {
            throw ReaderError(error)
        }
    }

    func enroll(
        _ metadata: EnrollmentMetadata,
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> Template { throw refusal("enroll") }

    func verify(
        _ template: Template,
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> VerifyResult { throw refusal("verify") }

    func identify(
        among gallery: [GalleryEntry],
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> IdentifyResult { throw refusal("identify") }

    func capture(whenBusy: BusyPolicy, observer: @escaping ScanObserver) async throws(ReaderError)
        -> FingerprintImage
    { throw refusal("capture") }

    func delete(_ template: Template, whenBusy: BusyPolicy) async throws(ReaderError) {
        throw refusal("delete")
    }

    func clearStorage(whenBusy: BusyPolicy) async throws(ReaderError) { throw refusal("clearStorage") }
    func suspend() async throws(ReaderError) { throw refusal("suspend") }
    func resume() async throws(ReaderError) { throw refusal("resume") }

    var fingerStatus: FingerStatus {
        get async { FingerStatus(needed: false, present: false) }
    }

    var temperature: ReaderTemperature {
        get async { .cold }
    }

    func isSamePrint(_ first: Template, _ second: Template) async -> Bool { false }

    private func refusal(_ operation: String) -> ReaderError {
        ReaderError(
            .unsupported,
            operation: operation,
            cause: "the service whorld owns the reader; WHORL_SERVICE=in-process uses it directly"
        )
    }
}
