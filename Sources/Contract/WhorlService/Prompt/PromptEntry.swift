// SPDX-License-Identifier: Apache-2.0

public import WhorlSecretMemory
import Synchronization

/// The entry of a shown prompt: it gives the updates to show, and takes the passcodes that a person types.
///
/// A passcode is taken only where the prompt asks for one. It may come at any time, also while a finger is on the reader.
/// One passcode is compared at a time. A passcode that was handed in is wiped after its verdict, or when the evaluation
/// ends, whichever comes first.
public final class PromptEntry: Sendable {
    /// The accepted sizes of a passcode, in bytes.
    public static let sizes = 1...1024

    private enum State: Sendable {
        /// A passcode is taken.
        case open
        /// A passcode waits for its comparison.
        case waiting(SecretBox)
        /// A passcode is being compared.
        case checking
        /// No further passcode is taken.
        case closed
    }

    /// The updates that the prompt shows, for one listener.
    public let updates: AsyncStream<PromptUpdate>

    private let sink: AsyncStream<PromptUpdate>.Continuation
    private let arrivals: AsyncStream<Void>
    private let arrived: AsyncStream<Void>.Continuation
    private let state: Mutex<(now: State, isLast: Bool, isDecided: Bool)>
    private let activity: @Sendable () -> Void
    private let ending = Mutex<(hasEnded: Bool, then: [@Sendable () -> Void])>((false, []))

    /// Makes an entry that calls `activity` for each action of the person.
    ///
    /// - Parameters:
    ///   - parts: The parts that the prompt asks for; without the passcode's part, the entry takes no passcode.
    ///   - activity: Restarts the time limit of the prompt.
    package init(_ parts: Prompt.Parts, activity: @escaping @Sendable () -> Void = {}) {
        state = Mutex((parts.contains(.passcode) ? .open : .closed, isLast: false, isDecided: false))
        (updates, sink) = AsyncStream.makeStream()
        // One buffered arrival is enough: it is kept until the engine looks for a passcode.
        (arrivals, arrived) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.activity = activity
    }

    /// Hands a passcode in.
    ///
    /// - Parameter passcode: The passcode that the person typed, without a line's end; it is consumed and wiped.
    /// - Returns: `false` when the passcode is not compared: it is empty or has more than 1,024 bytes, another one is
    ///   being compared, or the prompt takes none or no further one. Such a passcode is wiped at once and does not count as a try.
    @discardableResult
    public func submit(_ passcode: consuming SecretBytes) -> Bool { submit(SecretBox(passcode)) }

    /// Hands in a passcode that has other owners, which release it soon.
    @discardableResult
    package func submit(_ box: SecretBox) -> Bool {
        guard PromptEntry.sizes.contains(box.bytes.count) else { return false }
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

    /// Reports that the person is typing, so that the time limit starts again.
    public func typing() { activity() }

    /// Reports that no further passcode will come; one that was handed in is still compared.
    public func close() {
        state.withLock { $0.isLast = true }
        arrived.finish()
    }
}

// The engine's side.
extension PromptEntry {
    /// Calls a function for each passcode that is handed in, until the entry is closed or the task is cancelled.
    ///
    /// - Parameter body: Compares one passcode; `true` ends the calls.
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

    /// Sends an update to the presenter, and takes the next passcode after a verdict.
    package func send(_ update: PromptUpdate) {
        decide(update)
        switch update {
        case .wrongPasscode, .throttled: reopen()
        case .passcodeEnded, .matched, .verified, .ended: shut()
        case .scan, .noMatch, .anotherFinger, .fingerEnded, .checking: break
        }
        activity()
        sink.yield(update)
    }

    /// Ends the updates, and wipes a passcode that was handed in and not compared.
    package func end() {
        shut()
        sink.finish()
        let then = ending.withLock { ending in
            defer { ending = (true, []) }
            return ending.then
        }
        for body in then { body() }
    }

    /// Calls a function when the updates have ended; at once if they have ended already.
    package func whenEnded(_ body: @escaping @Sendable () -> Void) {
        let hasEnded = ending.withLock { ending in
            if !ending.hasEnded { ending.then.append(body) }
            return ending.hasEnded
        }
        if hasEnded { body() }
    }

    /// Whether a passcode got a verdict, so that handing the same one in again would be another try.
    package var isDecided: Bool { state.withLock(\.isDecided) }

    private func decide(_ update: PromptUpdate) {
        switch update {
        case .wrongPasscode, .throttled, .verified, .passcodeEnded: state.withLock { $0.isDecided = true }
        case .scan, .noMatch, .anotherFinger, .fingerEnded, .checking, .matched, .ended: break
        }
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
