// SPDX-License-Identifier: Apache-2.0

public import SecretMemory
import Synchronization

/// Where a presenter hands in the passcodes that a person types while the prompt is shown.
///
/// A passcode may come at any time, also while a finger is on the reader. One is compared at a time. What was handed in
/// is wiped when its verdict is there, or when the evaluation ends, whichever comes first.
public final class PasscodeEntry: Sendable {
    /// The sizes of a passcode that is taken, in bytes.
    public static let sizes = 1...1024

    private enum State: Sendable {
        /// One is taken.
        case open
        /// One waits for its comparison.
        case waiting(SecretBox)
        /// One is being compared.
        case checking
        /// None is taken any more.
        case closed
    }

    /// What the prompt shows as it goes on; for one listener.
    public let updates: AsyncStream<PasscodePromptUpdate>
    /// The finger's part of it, for presenters that show no passcode; for one listener.
    public let fingerUpdates: AsyncStream<PromptUpdate>

    private let sink: AsyncStream<PasscodePromptUpdate>.Continuation
    private let fingerSink: AsyncStream<PromptUpdate>.Continuation
    private let arrivals: AsyncStream<Void>
    private let arrived: AsyncStream<Void>.Continuation
    private let state = Mutex((now: State.open, isLast: false))
    private let activity: @Sendable () -> Void

    /// Takes passcodes, and calls `activity` whenever the person does something.
    package init(activity: @escaping @Sendable () -> Void = {}) {
        (updates, sink) = AsyncStream.makeStream()
        (fingerUpdates, fingerSink) = AsyncStream.makeStream()
        // One arrival is enough to look: it is kept although nobody looks yet.
        (arrivals, arrived) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.activity = activity
    }

    /// Hands a passcode in.
    ///
    /// - Parameter passcode: What the person typed, without a line's end; it is taken over and wiped.
    /// - Returns: `false` when it is not compared: it has no byte or more than 1,024, another one is being compared, or
    ///   none is taken any more. Such a passcode is wiped at once and is no try.
    @discardableResult
    public func submit(_ passcode: consuming SecretBytes) -> Bool { submit(SecretBox(passcode)) }

    /// Hands a passcode in that has other owners, who let go of it soon.
    @discardableResult
    package func submit(_ box: SecretBox) -> Bool {
        guard PasscodeEntry.sizes.contains(box.bytes.count) else { return false }
        let isTaken = state.withLock { state in
            guard case .open = state.now, !state.isLast else { return false }
            state.now = .waiting(box)
            return true
        }
        guard isTaken else { return false }
        activity()
        arrived.yield()
        return true
    }

    /// Says that the person types, so that the time does not run out meanwhile.
    public func typing() { activity() }

    /// Says that no further passcode will come; one that was handed in is still compared.
    public func close() {
        state.withLock { $0.isLast = true }
        arrived.finish()
    }
}

// The engine's side.
extension PasscodeEntry {
    /// The passcodes that are handed in, one after the other, until it is closed or the task is cancelled.
    ///
    /// - Parameter body: Compares one; `true` ends it.
    /// - Throws: what `body` throws.
    package func each<Failure: Error>(
        _ body: (SecretBox) async throws(Failure) -> Bool
    ) async throws(Failure) {
        for await _ in arrivals {
            guard let box = take() else { continue }
            if try await body(box) { return }
        }
    }

    private func take() -> SecretBox? {
        state.withLock { state in
            guard case .waiting(let box) = state.now else { return nil }
            state.now = .checking
            return box
        }
    }

    /// Tells the presenter, and takes the next passcode after a verdict.
    package func send(_ update: PasscodePromptUpdate) {
        switch update {
        case .wrongPasscode, .throttled: reopen()
        case .passcodeEnded, .matched, .verified, .ended: shut()
        case .scan, .noMatch, .fingerEnded, .checking: break
        }
        activity()
        sink.yield(update)
        if let update = update.ofFinger { fingerSink.yield(update) }
    }

    /// Ends the updates; what was handed in and not compared is wiped.
    package func end() {
        shut()
        sink.finish()
        fingerSink.finish()
    }

    private func reopen() {
        state.withLock { state in
            if case .checking = state.now { state.now = .open }
        }
    }

    private func shut() {
        state.withLock { $0.now = .closed }
        arrived.finish()
    }
}
