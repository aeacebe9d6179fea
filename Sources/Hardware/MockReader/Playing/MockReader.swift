// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
public import WhorlFingerprint

/// A reader made of a script, for the tests of programs that embed Whorl.
///
/// It keeps the promises of `FingerprintReader` (one operation at a time, cancellation, the order of events),
/// and its answers are honest: a presentation is a finger, a template names the finger that it was made of, and
/// they match when they are the same. It compares no images and says nothing about a real reader's errors.
///
/// ```swift
/// let reader = try MockReader(script: "stages=1, touch right-index-finger, no-match")
/// try await reader.open()
/// ```
///
/// A test can also play steps as it goes, with ``play(_:)-(MockStep...)``, and pull the plug with ``unplug()``.
public final class MockReader: FingerprintReader {
    let settings: MockSettings
    let player: MockPlayer
    let gate = OperationGate()
    private let state: Mutex<State>

    private struct State {
        /// The connection that was opened; a reader that was unplugged since then has another one.
        var openConnection: Int?
        var status = FingerStatus(needed: false, present: false)
        var storage: MockStorage
    }

    /// A reader, closed, with a script made in Swift.
    public init(_ script: MockScript = MockScript()) {
        settings = script.settings
        player = MockPlayer(script)
        state = Mutex(State(storage: MockStorage(path: script.settings.storageFile)))
    }

    /// A reader, closed, with a script as text.
    public convenience init(script: String) throws(MockScriptError) {
        self.init(try MockScript(parsing: script))
    }

    // MARK: - What a test does to it

    /// Adds steps behind those that are left.
    public func play(_ steps: MockStep...) {
        player.append(steps)
    }

    /// Adds the steps of a script behind those that are left; its settings do not count.
    public func play(_ script: String) throws(MockScriptError) {
        player.append(try MockScript(parsing: script).steps)
    }

    /// Pulls the reader out, now: a running operation ends with `unplugged`.
    public func unplug() { player.setConnected(false) }

    /// Plugs the reader in, now.
    ///
    /// It has to be opened again.
    public func plug() { player.setConnected(true) }

    /// The steps that no operation has reached yet.
    public var remainingSteps: [MockStep] { player.remainingSteps }

    // MARK: - What it is

    /// The script's settings.
    public var info: ReaderInfo { settings.info }

    /// Whether an operation waits, and whether a presentation is being read.
    public var fingerStatus: FingerStatus { state.withLock { $0.status } }

    /// Hot from a step `too-hot` to the next presentation, otherwise cold.
    public var temperature: ReaderTemperature { player.isHot ? .hot : .cold }

    /// Whether two templates are of the same enrollment.
    ///
    /// Templates of other readers are never the same.
    public func isSamePrint(_ first: Template, _ second: Template) -> Bool {
        guard let first = MockPrint(first), let second = MockPrint(second) else { return false }
        return first.isSame(as: second)
    }

    // MARK: - Opening and closing

    /// Makes the reader ready; `busy` and `permission-denied` at the script's front make it fail.
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

    /// Lets the reader go when the running operation has ended.
    ///
    /// A cancelled task closes it too.
    public func close() async throws(ReaderError) {
        await gate.runUncancelled { markClosed() }
    }

    /// A running operation ends with `suspended`, and so does every other until the reader is resumed.
    public func suspend() throws(ReaderError) {
        player.setSuspended(true)
        guard player.isConnected else { throw ReaderError(.unplugged, operation: "suspend") }
    }

    /// Operations may begin again.
    public func resume() throws(ReaderError) {
        player.setSuspended(false)
        guard player.isConnected else { throw ReaderError(.unplugged, operation: "resume") }
    }
}

// MARK: - State

extension MockReader {
    /// Whether it was opened and has not been unplugged or closed since.
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

    /// Runs one operation of an open reader that supports it, alone.
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

/// Mock readers as the system would list them: those that are plugged in.
public final class MockReaderSource: ReaderSource {
    private let all: [MockReader]

    /// The readers that there are, plugged in or not.
    ///
    /// Give each one another identity.
    public init(_ readers: [MockReader]) { all = readers }

    /// One reader, with a script as text.
    public convenience init(script: String) throws(MockScriptError) {
        self.init([try MockReader(script: script)])
    }

    /// Every reader, whether it is plugged in or not; for the test that plays on them.
    public var mocks: [MockReader] { all }

    /// The readers that are plugged in now.
    public func readers() -> [any FingerprintReader] {
        all.filter(\.player.isConnected)
    }

    /// Plugs and unplugs from now on.
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
