// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Synchronization

/// A reader whose presentations a test lays out beforehand.
///
/// A finger is a word. A template is the word and a number, and matches presentations of that word.
final class TestReader: FingerprintReader {
    /// What happens at the sensor, one for each touch.
    enum Presentation: Sendable {
        case finger(String)
        /// A finger that shows the same part as before.
        case alike(String)
        case retry(ScanRetry)
        case fails(ReaderError.Code)
        /// A finger that comes once `late` is finished.
        case late(String)
        /// Nobody comes.
        case nobody
        /// The reader claims a match with a print that it was not given.
        case lie
    }

    struct State {
        var presentations: [Presentation] = []
        var stored: [StoredPrint] = []
        /// The next call of the operation of this name fails.
        var failures: [String: ReaderError.Code] = [:]
        var made = 0
        var isOpen = false
        var touches = 0
        /// Is there while a late finger is waited for.
        var late: AsyncStream<Never>.Continuation?
        /// Is run when the reader begins to wait for the touch of this number, from 1.
        var atTouch: [Int: @Sendable () -> Void] = [:]
    }

    let info: ReaderInfo
    let state = Mutex(State())
    private let gate = OperationGate()

    init(_ info: ReaderInfo = .test(), _ presentations: [Presentation] = []) {
        self.info = info
        state.withLock { $0.presentations = presentations }
    }

    func script(_ presentations: Presentation...) {
        state.withLock { $0.presentations = presentations }
    }

    func failNext(_ operation: String, _ code: ReaderError.Code) {
        state.withLock { $0.failures[operation] = code }
    }

    var touches: Int { state.withLock { $0.touches } }
    var stored: [StoredPrint] { state.withLock { $0.stored } }
    var isOpen: Bool { state.withLock { $0.isOpen } }

    func open() async throws(ReaderError) {
        try fail("open")
        state.withLock { $0.isOpen = true }
    }

    func close() async throws(ReaderError) {
        state.withLock { $0.isOpen = false }
        try fail("close")
    }

    func enroll(
        _ metadata: EnrollmentMetadata,
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> Template {
        try await gate.run("enroll", whenBusy: whenBusy) { () throws(ReaderError) in
            try mustBeOpen()
            var word = ""
            var completed = 0
            while completed < info.enrollStages {
                switch try await present(observer) {
                case .finger(let finger):
                    word = finger
                    completed += 1
                    observer(.stage(completed: completed, total: info.enrollStages))
                case .alike(let finger):
                    word = finger
                    completed += 1
                    observer(.alike)
                    observer(.stage(completed: completed, total: info.enrollStages))
                case .retry(let reason): observer(.retry(reason))
                case .fails(let code): throw ReaderError(code, operation: "enroll")
                case .nobody, .late, .lie: throw ReaderError(.malfunction, operation: "enroll")
                }
            }
            let template = state.withLock { state in
                state.made += 1
                let template = Template(bytes: Array("\(word)#\(state.made)".utf8))
                if info.storage == .reader {
                    state.stored.append(StoredPrint(template: template, metadata: metadata))
                }
                return template
            }
            try fail("enroll")
            return template
        }
    }

    func verify(
        _ template: Template,
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> VerifyResult {
        switch try await present(observer) {
        case .finger(let word), .alike(let word):
            word == TestReader.word(template) ? .match(updated: nil) : .noMatch
        case .retry(let reason): .retry(reason)
        case .fails(let code): throw ReaderError(code, operation: "verify")
        case .nobody, .late, .lie: .noMatch
        }
    }

    func identify(
        among gallery: [GalleryEntry],
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> IdentifyResult {
        try mustBeOpen()
        switch try await present(observer) {
        case .finger(let word), .alike(let word):
            guard let entry = gallery.first(where: { TestReader.word($0.template) == word }) else {
                return .noMatch
            }
            return .match(entry.id, updated: nil)
        case .retry(let reason): return .retry(reason)
        case .fails(let code): throw ReaderError(code, operation: "identify")
        case .nobody, .late: return .noMatch
        case .lie: return .match(PrintID(), updated: nil)
        }
    }

    func capture(
        whenBusy: BusyPolicy,
        observer: @escaping ScanObserver
    ) async throws(ReaderError) -> FingerprintImage {
        throw ReaderError(.unsupported, operation: "capture")
    }

    func storedPrints(whenBusy: BusyPolicy) async throws(ReaderError) -> [StoredPrint] {
        try mustBeOpen()
        try fail("list")
        return stored
    }

    func delete(_ template: Template, whenBusy: BusyPolicy) async throws(ReaderError) {
        try mustBeOpen()
        try fail("delete")
        let found = state.withLock { state in
            let index = state.stored.firstIndex { $0.template == template }
            if let index { state.stored.remove(at: index) }
            return index != nil
        }
        if !found { throw ReaderError(.printNotFound, operation: "delete") }
    }

    func clearStorage(whenBusy: BusyPolicy) async throws(ReaderError) {
        state.withLock { $0.stored = [] }
    }

    func suspend() async throws(ReaderError) {}
    func resume() async throws(ReaderError) {}
    var fingerStatus: FingerStatus { FingerStatus(needed: false, present: false) }
    var temperature: ReaderTemperature { .cold }

    func isSamePrint(_ first: Template, _ second: Template) async -> Bool { first == second }

    private static func word(_ template: Template) -> String {
        String(String(decoding: template.bytes, as: UTF8.self).prefix { $0 != "#" })
    }

    private func mustBeOpen() throws(ReaderError) {
        guard isOpen else { throw ReaderError(.notOpen, operation: "test") }
    }

    private func fail(_ operation: String) throws(ReaderError) {
        if let code = state.withLock({ $0.failures.removeValue(forKey: operation) }) {
            throw ReaderError(code, operation: operation)
        }
    }

    /// The next presentation; without one the touch is waited for until the task is cancelled.
    private func present(_ observer: ScanObserver) async throws(ReaderError) -> Presentation {
        observer(.touch)
        let (wait, end) = AsyncStream.makeStream(of: Never.self)
        let (next, action) = state.withLock { state in
            state.touches += 1
            let next = state.presentations.isEmpty ? nil : state.presentations.removeFirst()
            state.late = end
            return (next, state.atTouch[state.touches])
        }
        action?()
        switch next {
        case .finger, .alike, .retry, .fails, .lie: break
        case .late, .nobody, nil: for await _ in wait {}
        }
        if Task.isCancelled { throw ReaderError(.cancelled, operation: "scan") }
        if case .late(let word) = next { return .finger(word) }
        return next ?? .nobody
    }
}
