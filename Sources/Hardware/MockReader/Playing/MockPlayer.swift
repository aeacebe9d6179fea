// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint
internal import Synchronization

/// Plays a script's steps, which an operation that waits for a finger takes one at a time.
///
/// Every change (a new step, plugging in, a cancelled wait, the end of a delay) wakes the waiting operation, which then
/// checks the state itself. The operation compares version numbers so that it never misses a change between the check
/// and the wait.
final class MockPlayer: Sendable {
    /// The result of placing a finger on the sensor.
    enum Presentation {
        case finger(MockFinger)
        case unreadable(ScanRetry)
        case lie(MockLie)
    }

    private enum Outcome {
        case presentation(Presentation)
        case failure(ReaderError.Code)
        case nothing(version: UInt64, until: ContinuousClock.Instant?)
    }

    private struct State {
        var steps: ArraySlice<MockStep>
        var isConnected: Bool
        /// The number of times the reader has been plugged in.
        var connections = 0
        var isSuspended = false
        /// Whether the reader has been suspended since the current operation began.
        var isInterrupted = false
        var isHot = false
        /// The end of the current delay.
        var resumeAt: ContinuousClock.Instant?
        var version: UInt64 = 0
        var waiter: CheckedContinuation<Void, Never>?
        var listeners: [Int: @Sendable (Bool) -> Void] = [:]
        var nextListener = 0
    }

    private let state: Mutex<State>
    private let afterScript: MockSettings.AfterScript

    init(_ script: MockScript) {
        state = Mutex(State(steps: script.steps[...], isConnected: script.settings.isConnected))
        afterScript = script.settings.afterScript
        if !script.settings.isConnected { plugInByItself() }
    }

    var isConnected: Bool { state.withLock { $0.isConnected } }
    /// The number of the current connection, or `nil` while the reader is unplugged.
    var connection: Int? { state.withLock { $0.isConnected ? $0.connections : nil } }
    var isHot: Bool { state.withLock { $0.isHot } }
    var remainingSteps: [MockStep] { state.withLock { Array($0.steps) } }

    // MARK: - What happens to the reader

    func append(_ steps: [MockStep]) {
        change { $0.steps += steps }
        if !isConnected { plugInByItself() }
    }

    func setConnected(_ connected: Bool) {
        change { Self.connect(&$0, connected) }
        if !connected { plugInByItself() }
    }

    func setSuspended(_ suspended: Bool) {
        change {
            $0.isSuspended = suspended
            if suspended { $0.isInterrupted = true }
        }
    }

    /// Begins an operation.
    ///
    /// - Returns: Whether the operation may begin. This is `false` while the reader is suspended.
    func begin() -> Bool {
        state.withLock { state in
            if !state.isSuspended { state.isInterrupted = false }
            return !state.isSuspended
        }
    }

    /// Calls `body` in order whenever the reader is plugged in (`true`) or unplugged (`false`).
    ///
    /// `body` must not call the player.
    func listen(_ body: @escaping @Sendable (Bool) -> Void) -> Int {
        state.withLock { state in
            state.nextListener += 1
            state.listeners[state.nextListener] = body
            return state.nextListener
        }
    }

    func stopListening(_ listener: Int) {
        state.withLock { $0.listeners[listener] = nil }
    }

    // MARK: - Waiting

    /// Returns the error with which opening the reader must fail, if any, and takes the step that specifies it.
    func takeOpeningFault() -> ReaderError.Code? {
        state.withLock { state in
            guard state.isConnected else { return .unplugged }
            guard !state.isSuspended else { return .suspended }
            switch state.steps.first {
            case .fail(.inUse)?, .fail(.permissionDenied)?:
                guard case .fail(let code)? = state.steps.popFirst() else { return nil }
                return code
            default: return nil
            }
        }
    }

    /// Takes steps until it reaches a presentation.
    ///
    /// - Throws: `cancelled`, `unplugged`, or the error in the script.
    func nextPresentation(_ operation: String) async throws(ReaderError) -> Presentation {
        while true {
            if Task.isCancelled {
                abandonWait()
                throw ReaderError(.cancelled, operation: operation)
            }
            switch look() {
            case .presentation(let presentation): return presentation
            case .failure(let code):
                if code == .unplugged { plugInByItself() }
                if code == .suspended { abandonWait() }
                throw ReaderError(code, operation: operation, cause: "the script")
            case .nothing(let version, let instant): await waitForChange(since: version, until: instant)
            }
        }
    }

    private func look() -> Outcome {
        state.withLock { state in
            while true {
                guard state.isConnected else { return .failure(.unplugged) }
                if state.isInterrupted { return .failure(.suspended) }
                if let resumeAt = state.resumeAt {
                    guard ContinuousClock.now >= resumeAt else {
                        return .nothing(version: state.version, until: resumeAt)
                    }
                    state.resumeAt = nil
                }
                if let outcome = step(&state) { return outcome }
            }
        }
    }

    /// Takes one step, or returns `nil` if the step gives the waiting operation nothing to do and the next step
    /// follows.
    private func step(_ state: inout State) -> Outcome? {
        guard let step = state.steps.first else {
            switch afterScript {
            case .wait: return .nothing(version: state.version, until: nil)
            case .match: return .presentation(.finger(.expected))
            case .noMatch: return .presentation(.finger(.unknown))
            }
        }
        // It remains the next step until the operation is cancelled.
        if step == .hang { return .nothing(version: state.version, until: nil) }
        state.steps.removeFirst()
        switch step {
        case .touch(let finger):
            state.isHot = false
            return .presentation(.finger(finger))
        case .retry(let reason): return .presentation(.unreadable(reason))
        case .lie(let lie): return .presentation(.lie(lie))
        case .delay(let duration): state.resumeAt = ContinuousClock.now + duration
        case .unplug: Self.connect(&state, false)
        case .plug, .hang: break
        case .fail(let code):
            state.isHot = code == .tooHot
            return .failure(code)
        }
        return nil
    }

    /// Ends the step in which a cancelled or suspended operation was waiting.
    private func abandonWait() {
        state.withLock { state in
            state.resumeAt = nil
            if state.steps.first == .hang { state.steps.removeFirst() }
        }
    }

    private func waitForChange(since version: UInt64, until instant: ContinuousClock.Instant?) async {
        let timer = instant.map { instant in
            // Runs on the shared pool: if a program blocks the whole pool, only a script's delay has to wait.
            Task {
                // A cancelled timer wakes no one.
                guard (try? await Task.sleep(until: instant, clock: .continuous)) != nil else { return }
                self.change { _ in }
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isLate = state.withLock { state in
                    guard state.version == version, !Task.isCancelled else { return true }
                    state.waiter = waiter
                    return false
                }
                if isLate { waiter.resume() }
            }
        } onCancel: {
            change { _ in }
        }
        timer?.cancel()
    }

    /// Changes the state and wakes the waiting operation.
    private func change(_ body: (inout State) -> Void) {
        let waiter = state.withLock { state in
            body(&state)
            state.version += 1
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    // MARK: - Plugging

    private static func connect(_ state: inout State, _ connected: Bool) {
        guard state.isConnected != connected else { return }
        state.isConnected = connected
        if connected { state.connections += 1 }
        state.resumeAt = nil
        for listener in state.listeners.values { listener(connected) }
    }

    /// Runs the delays and the plug step at the front of the script, because no operation waits for an unplugged
    /// reader.
    private func plugInByItself() {
        let pause: Duration? = state.withLock { state in
            let delays = state.steps.prefix { if case .delay = $0 { true } else { false } }
            guard !state.isConnected, state.steps.dropFirst(delays.count).first == .plug else { return nil }
            state.steps = state.steps.dropFirst(delays.count + 1)
            return delays.reduce(.zero) { sum, step in
                if case .delay(let duration) = step { sum + duration } else { sum }
            }
        }
        guard let pause else { return }
        guard pause > .zero else { return setConnected(true) }
        Task { [weak self] in
            try? await Task.sleep(for: pause)
            self?.setConnected(true)
        }
    }
}
