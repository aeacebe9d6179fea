// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
public import WhorlFingerprint

/// A scripted reader, for testing programs that embed Whorl.
///
/// It provides the guarantees of `FingerprintReader`, which are one operation at a time, cancellation, and the order of
/// events. A presentation is a finger, a template contains the finger it was made from, and the two match if they are
/// equal. The mock does not compare images or model a real reader's errors.
///
/// ```swift
/// let reader = try MockReader(script: "stages=1, touch right-index-finger, no-match")
/// try await reader.open()
/// ```
///
/// While it runs, a test can also add steps with ``play(_:)-(MockStep...)`` and unplug the reader with ``unplug()``.
public final class MockReader: FingerprintReader {
    let settings: MockSettings
    let player: MockPlayer
    let gate = OperationGate()
    private let state: Mutex<State>

    private struct State {
        /// The number of the connection on which the reader was opened.
        ///
        /// It changes when the reader is unplugged and plugged in again.
        var openConnection: Int?
        var status = FingerStatus(needed: false, present: false)
        var storage: MockStorage
    }

    /// Creates a closed reader from a script.
    public init(_ script: MockScript = MockScript()) {
        settings = script.settings
        player = MockPlayer(script)
        state = Mutex(State(storage: MockStorage(path: script.settings.storageFile)))
    }

    /// Creates a closed reader from a script in text form.
    public convenience init(script: String) throws(MockScriptError) {
        self.init(try MockScript(parsing: script))
    }

    // MARK: - What a test does to it

    /// Appends steps to the remaining ones.
    public func play(_ steps: MockStep...) {
        player.append(steps)
    }

    /// Appends the steps of a script to the remaining ones and ignores the script's settings.
    public func play(_ script: String) throws(MockScriptError) {
        player.append(try MockScript(parsing: script).steps)
    }

    /// Unplugs the reader immediately.
    ///
    /// An operation in progress fails with `unplugged`.
    public func unplug() { player.setConnected(false) }

    /// Plugs the reader in immediately.
    ///
    /// The reader must then be opened again.
    public func plug() { player.setConnected(true) }

    /// The steps that have not been reached yet.
    public var remainingSteps: [MockStep] { player.remainingSteps }

    // MARK: - What it is

    /// The script's settings.
    public var info: ReaderInfo { settings.info }

    /// Whether an operation is waiting, and whether a presentation is being read.
    public var fingerStatus: FingerStatus { state.withLock { $0.status } }

    /// The temperature, which is hot from a `too-hot` step until the next presentation and cold otherwise.
    public var temperature: ReaderTemperature { player.isHot ? .hot : .cold }

    /// Returns whether two templates belong to the same enrollment.
    ///
    /// Templates from other readers never do.
    public func isSamePrint(_ first: Template, _ second: Template) -> Bool {
        guard let first = MockPrint(first), let second = MockPrint(second) else { return false }
        return first.isSame(as: second)
    }

    // MARK: - Opening and closing

    /// Opens the reader, or fails if the next step in the script is `busy` or `permission-denied`.
    public func open() async throws(ReaderError) {
        guard !Task.isCancelled else { throw ReaderError(.cancelled, operation: "open") }
        if isOpen { return }
        try await gate.run("open", whenBusy: .wait) { () throws(ReaderError) in
            if isOpen { return }
            let connection = player.connection
            if let fault = player.takeOpeningFault() {
                throw ReaderError(fault, operation: "open", cause: "the script")
            }
            try withStorage { storage throws(ReaderError) in try storage.refresh("open") }
            state.withLock { $0.openConnection = connection }
        }
    }

    /// Closes the reader when the operation in progress has ended.
    ///
    /// The reader is closed even if the task is cancelled.
    public func close() async throws(ReaderError) {
        await gate.runUncancelled { markClosed() }
    }

    /// Suspends the reader.
    ///
    /// The operation in progress and all later ones fail with `suspended` until the reader is resumed.
    public func suspend() throws(ReaderError) {
        player.setSuspended(true)
        guard player.isConnected else { throw ReaderError(.unplugged, operation: "suspend") }
    }

    /// Resumes the reader so that operations can start again.
    public func resume() throws(ReaderError) {
        player.setSuspended(false)
        guard player.isConnected else { throw ReaderError(.unplugged, operation: "resume") }
    }
}

// MARK: - State

extension MockReader {
    /// Whether the reader was opened and has not been closed or unplugged since.
    private var isOpen: Bool {
        guard let connection = player.connection else { return false }
        return state.withLock { $0.openConnection == connection }
    }

    private func markClosed() {
        state.withLock { $0.openConnection = nil }
    }

    private func requireConnected(_ operation: String) throws(ReaderError) {
        guard player.isConnected else { throw ReaderError(.unplugged, operation: operation) }
        guard isOpen else { throw ReaderError(.notOpen, operation: operation) }
    }

    /// Runs one operation exclusively, if the reader is open and supports it.
    func operate<Value: Sendable>(
        _ operation: String,
        needing feature: ReaderFeatures = [],
        whenBusy policy: BusyPolicy,
        _ body: () async throws(ReaderError) -> Value
    ) async throws(ReaderError) -> Value {
        try await gate.run(operation, whenBusy: policy) { () throws(ReaderError) in
            guard !Task.isCancelled else { throw ReaderError(.cancelled, operation: operation) }
            try requireConnected(operation)
            guard player.begin() else { throw ReaderError(.suspended, operation: operation) }
            guard info.features.isSuperset(of: feature) else {
                throw ReaderError(.unsupported, operation: operation)
            }
            return try await body()
        }
    }

    func setStatus(needed: Bool, present: Bool) {
        state.withLock { $0.status = FingerStatus(needed: needed, present: present) }
    }

    func withStorage<Value>(_ body: (inout MockStorage) throws(ReaderError) -> Value) throws(ReaderError)
        -> Value
    {
        try state.withLock { state throws(ReaderError) in try body(&state.storage) }
    }
}

/// A source of mock readers that lists only those that are plugged in, as the system would.
public final class MockReaderSource: ReaderSource {
    private let all: [MockReader]

    /// Creates a source of the given readers, whether they are plugged in or not.
    ///
    /// Each reader needs a different identity.
    public init(_ readers: [MockReader]) { all = readers }

    /// Creates a source with one reader, from a script in text form.
    public convenience init(script: String) throws(MockScriptError) {
        self.init([try MockReader(script: script)])
    }

    /// All readers, including unplugged ones, so that a test can play steps on them.
    public var mocks: [MockReader] { all }

    /// Returns the readers that are currently plugged in.
    public func readers() -> [any FingerprintReader] {
        all.filter(\.player.isConnected)
    }

    /// Returns a stream of the readers that are plugged in or unplugged from now on.
    public func changes() -> AsyncStream<ReaderChange> {
        let (stream, continuation) = AsyncStream.makeStream(of: ReaderChange.self)
        let listeners = all.map { reader in
            let info = reader.info
            let listener = reader.player.listen { isConnected in
                continuation.yield(isConnected ? .added(info) : .removed(info.id))
            }
            return (player: reader.player, listener: listener)
        }
        continuation.onTermination = { _ in
            for (player, listener) in listeners { player.stopListening(listener) }
        }
        return stream
    }
}
