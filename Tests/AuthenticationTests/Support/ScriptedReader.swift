// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Synchronization

/// A reader that answers what a test wrote down, one step for each presentation, and counts what is done to it.
///
/// After the last step it waits for a finger until it is cancelled.
final class ScriptedReader: FingerprintReader {
    enum Step: Sendable {
        /// Matches the gallery's entry at this place.
        case match(Int)
        /// Matches, and made a better template of it.
        case matchImproving(Int, Template)
        /// Matches a print that was never enrolled.
        case matchStranger
        case noMatch
        /// Makes this template of the finger that is enrolled.
        case template(Template)
        /// A retry that the reader tells as its answer, and as an event too where `event` says so.
        case retry(ScanRetry, event: Bool)
        case failure(ReaderError.Code)
        /// Waits for a finger until it is cancelled.
        case wait
        /// Does something while the finger is on the sensor, then goes on as the next step says.
        case perform(@Sendable () async -> Void)
    }

    struct Counts: Sendable, Equatable {
        var opens = 0
        var closes = 0
        var scans = 0
        var enrollments = 0
        var scansAtOnce = 0
        var mostScansAtOnce = 0
        var galleries: [[PrintID]] = []
        var verified: [Template] = []
    }

    private struct State {
        var steps: [Step]
        var counts = Counts()
        var isOpen = false
    }

    private let fixedInfo: ReaderInfo
    private let state: Mutex<State>
    private let openFailure: ReaderError.Code?
    private let closeFailure: ReaderError.Code?
    private let whileOpening: @Sendable () async -> Void
    private let whileClosing: @Sendable () async -> Void

    init(
        _ steps: [Step],
        info: ReaderInfo = .scripted(),
        openFailure: ReaderError.Code? = nil,
        closeFailure: ReaderError.Code? = nil,
        whileOpening: @escaping @Sendable () async -> Void = {},
        whileClosing: @escaping @Sendable () async -> Void = {}
    ) {
        fixedInfo = info
        state = Mutex(State(steps: steps))
        self.openFailure = openFailure
        self.closeFailure = closeFailure
        self.whileOpening = whileOpening
        self.whileClosing = whileClosing
    }

    var counts: Counts { state.withLock { $0.counts } }
    var isOpen: Bool { state.withLock { $0.isOpen } }

    func add(_ steps: [Step]) { state.withLock { $0.steps += steps } }

    var info: ReaderInfo {
        get async { fixedInfo }
    }

    func open() async throws(ReaderError) {
        if let openFailure { throw ReaderError(openFailure, operation: "open") }
        await whileOpening()
        state.withLock { state in
            state.counts.opens += 1
            state.isOpen = true
        }
    }

    func close() async throws(ReaderError) {
        // A cancelled caller must not be able to leave the reader open.
        guard !Task.isCancelled else { throw ReaderError(.cancelled, operation: "close") }
        await whileClosing()
        state.withLock { state in
            state.counts.closes += 1
            state.isOpen = false
        }
        if let closeFailure { throw ReaderError(closeFailure, operation: "close") }
    }

    func verify(
        _ template: Template,
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> VerifyResult {
        state.withLock { $0.counts.verified.append(template) }
        let only = [GalleryEntry(id: PrintID(), template: template)]
        switch try await scan("verify", among: only, observer) {
        case .match(_, let updated): return .match(updated: updated)
        case .noMatch: return .noMatch
        case .retry(let reason): return .retry(reason)
        }
    }

    func identify(
        among gallery: [GalleryEntry],
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> IdentifyResult {
        state.withLock { $0.counts.galleries.append(gallery.map(\.id)) }
        return try await scan("identify", among: gallery, observer)
    }

    private func scan(
        _ operation: String,
        among gallery: [GalleryEntry],
        _ observer: ScanObserver
    ) async throws(ReaderError) -> IdentifyResult {
        guard isOpen else { throw ReaderError(.notOpen, operation: operation) }
        state.withLock { state in
            state.counts.scans += 1
            state.counts.scansAtOnce += 1
            state.counts.mostScansAtOnce = max(state.counts.mostScansAtOnce, state.counts.scansAtOnce)
        }
        defer { state.withLock { $0.counts.scansAtOnce -= 1 } }
        if Task.isCancelled { throw ReaderError(.cancelled, operation: operation) }
        observer(.touch)
        while true {
            switch state.withLock({ $0.steps.isEmpty ? Step.wait : $0.steps.removeFirst() }) {
            case .perform(let body): await body()
            case .match(let place): return .match(gallery[place].id, updated: nil)
            case .matchImproving(let place, let template): return .match(gallery[place].id, updated: template)
            case .matchStranger: return .match(PrintID(), updated: nil)
            case .noMatch, .template: return .noMatch
            case .retry(let reason, let event):
                if event { observer(.retry(reason)) }
                return .retry(reason)
            case .failure(let code): throw ReaderError(code, operation: operation)
            case .wait:
                do { try await Task.sleep(for: .seconds(3600)) } catch {
                    throw ReaderError(.cancelled, operation: operation)
                }
            }
        }
    }

    // What an evaluation has no use for.

    func enroll(
        _ metadata: EnrollmentMetadata,
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> Template {
        let step = state.withLock { $0.steps.isEmpty ? nil : $0.steps.removeFirst() }
        guard case .template(let template) = step else {
            throw ReaderError(.unsupported, operation: "enroll")
        }
        state.withLock { $0.counts.enrollments += 1 }
        return template
    }

    func capture(
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> FingerprintImage { throw ReaderError(.unsupported, operation: "capture") }

    func storedPrints(whenBusy: BusyPolicy) async throws(ReaderError) -> [StoredPrint] { [] }
    func delete(_ template: Template, whenBusy: BusyPolicy) async throws(ReaderError) {}
    func clearStorage(whenBusy: BusyPolicy) async throws(ReaderError) {}
    func suspend() async throws(ReaderError) {}
    func resume() async throws(ReaderError) {}
    var fingerStatus: FingerStatus { FingerStatus(needed: false, present: false) }
    var temperature: ReaderTemperature { .cold }
    func isSamePrint(_ first: Template, _ second: Template) async -> Bool { first == second }
}

extension ReaderInfo {
    static func scripted(
        id: String = "scripted-0",
        kind: Kind = .mock,
        features: ReaderFeatures = [.identify, .verify],
        storage: Storage = .host,
        strength: ReaderStrength = .none
    ) -> ReaderInfo {
        ReaderInfo(
            id: ReaderID(rawValue: id),
            driver: "scripted",
            name: "Scripted Reader",
            kind: kind,
            scanType: .press,
            features: features,
            enrollStages: 5,
            storage: storage,
            strength: strength,
            access: ReaderAccess(.pretended)
        )
    }
}
