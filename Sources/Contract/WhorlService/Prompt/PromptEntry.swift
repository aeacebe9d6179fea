// SPDX-License-Identifier: Apache-2.0

public import WhorlSecretMemory
import Synchronization

/// The connection between a visible prompt and its evaluation: it provides updates and accepts passcodes.
///
/// If the prompt asks for a passcode, one is accepted at any time, even while a finger is on the reader; otherwise
/// never. One passcode is compared at a time. A submitted passcode is wiped after its verdict or when the evaluation
/// ends, whichever comes first.
public final class PromptEntry: Sendable {
    /// The accepted sizes of a passcode in bytes.
    public static let sizes = 1...1024

    private enum State: Sendable {
        /// A passcode is accepted.
        case open
        /// A passcode is waiting to be compared.
        case waiting(SecretBox)
        /// A passcode is being compared.
        case checking
        /// No more passcodes are accepted.
        case closed
    }

    /// The updates to show, for a single listener.
    public let updates: AsyncStream<PromptUpdate>

    private let sink: AsyncStream<PromptUpdate>.Continuation
    private let arrivals: AsyncStream<Void>
    private let arrived: AsyncStream<Void>.Continuation
    private let state: Mutex<(now: State, isLast: Bool, isDecided: Bool)>
    private let activity: @Sendable () -> Void
    private let ending = Mutex<(hasEnded: Bool, then: [@Sendable () -> Void])>((false, []))

    /// Creates an entry for a prompt that accepts the given proofs.
    ///
    /// - Parameters:
    ///   - parts: The proofs that the prompt accepts; if they do not include the passcode, the entry does not accept
    ///     one.
    ///   - activity: Called for each user action; restarts the time limit of the prompt.
    package init(_ parts: Prompt.Parts, activity: @escaping @Sendable () -> Void = {}) {
        state = Mutex((parts.contains(.passcode) ? .open : .closed, isLast: false, isDecided: false))
        (updates, sink) = AsyncStream.makeStream()
        // A buffer of one is enough: it is kept until the engine checks for a passcode.
        (arrivals, arrived) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.activity = activity
    }

    /// Submits a passcode.
    ///
    /// - Parameter passcode: The passcode that the user typed, without a newline; it is consumed and wiped.
    /// - Returns: `false` if the passcode is not compared: it is empty or longer than 1,024 bytes, another one is being
    ///   compared, or the prompt does not accept one. Such a passcode is wiped immediately and does not count as an
    ///   attempt.
    @discardableResult
    public func submit(_ passcode: consuming SecretBytes) -> Bool { submit(SecretBox(passcode)) }

    /// Submits a passcode that has other owners, which must release it soon.
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

    /// Reports that the user is typing, which restarts the time limit.
    public func typing() { activity() }

    /// Reports that no more passcodes will follow; one that was already submitted is still compared.
    public func close() {
        state.withLock { $0.isLast = true }
        arrived.finish()
    }
}

// The engine's part.
extension PromptEntry {
    /// Calls a function for each submitted passcode, until the entry is closed or the task is cancelled.
    ///
    /// - Parameter body: Compares one passcode; returning `true` ends the calls.
    /// - Throws: The error of `body`.
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

    /// Sends an update to the presenter, and accepts another passcode after a verdict.
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

    /// Ends the updates, and wipes a submitted passcode that was not compared.
    package func end() {
        shut()
        sink.finish()
        let then = ending.withLock { ending in
            defer { ending = (true, []) }
            return ending.then
        }
        for body in then { body() }
    }

    /// Calls a function when the updates have ended, or immediately if they already have.
    package func whenEnded(_ body: @escaping @Sendable () -> Void) {
        let hasEnded = ending.withLock { ending in
            if !ending.hasEnded { ending.then.append(body) }
            return ending.hasEnded
        }
        if hasEnded { body() }
    }

    /// Whether a passcode received a verdict, so that submitting it again would count as another attempt.
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
