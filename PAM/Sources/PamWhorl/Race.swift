// SPDX-License-Identifier: Apache-2.0

/// The result of a prompt.
enum Outcome: Equatable {
    /// A finger of the user matched.
    case matched
    /// A password was typed. Another module checks it.
    case typed
    /// The finger on the reader is not the user's.
    case notMatched
    /// Touches are no longer possible, or none came in time.
    case unavailable
    /// A signal ends this process, or the user wants to stop.
    case interrupted
    /// The user suspended the job and resumed it.
    case stopped
}

/// The race between a touch and a password, as a state machine without a terminal or a socket.
///
/// It ends with ``Outcome/matched`` only if a ``Reply`` reports a match.
struct Race: ~Copyable {
    /// The step to take after an event.
    enum Step: Equatable {
        case goOn
        /// Show the message and continue.
        case show(Bytes)
        case end(Outcome)
    }

    var line: LineEditor
    /// Whether a password can be typed.
    private let takesPassword: Bool
    /// Whether a touch can still come.
    private(set) var isTouchAwaited = true
    /// The message that was shown last, so that it is not repeated.
    private var shown: Bytes?
    /// The message with which the service refused, if the user should see it.
    private(set) var farewell: Bytes?
    /// Whether the match came with the keyring's own password.
    private(set) var hasKeyringPassword = false
    /// The kind of reply that is expected next.
    private var phase: Phase

    private enum Phase { case challenged, proving, asking }

    /// Starts a race.
    ///
    /// - Parameters:
    ///   - takesPassword: Whether a password can be typed.
    ///   - keys: The keys that edit the line.
    ///   - isProven: Whether the kernel identifies this process to the service. If not, the first message is the reply
    ///     to a challenge.
    init(takesPassword: Bool, keys: LineEditor.Keys = LineEditor.Keys(), isProven: Bool) {
        line = LineEditor(keys)
        self.takesPassword = takesPassword
        phase = isProven ? .asking : .challenged
    }

    /// Returns the first call of the race.
    func firstCall(_ verify: Bytes) -> Bytes { phase == .asking ? verify : Call.challenge }

    /// Processes a key.
    mutating func key(_ key: UInt8) -> Step {
        guard takesPassword else { return .goOn }
        switch line.take(key) {
        case .open: return .goOn
        // A line that is too long is not a password. The next module prompts again.
        case .done: return .end(line.isTooLong ? .unavailable : .typed)
        case .ended: return .end(.unavailable)
        }
    }

    /// Processes a message from the service.
    ///
    /// Returns the next call, if there is one, and the step.
    mutating func message(_ bytes: Bytes, _ verify: Bytes) -> (call: Bytes?, step: Step) {
        guard let reply = Reply(bytes) else { return (nil, touchEnded(.unavailable)) }
        switch phase {
        case .challenged:
            // A service that does not support challenges does not need them.
            guard let question = reply.question, reply.error == nil else {
                phase = .asking
                return (verify, .goOn)
            }
            phase = .proving
            return (Call.prove(question), .goOn)
        case .proving:
            phase = .asking
            return (verify, .goOn)
        case .asking: return (nil, answer(reply))
        }
    }

    private mutating func answer(_ reply: Reply) -> Step {
        if reply.isMatch {
            hasKeyringPassword = reply.hasKeyringPassword
            return .end(.matched)
        }
        guard reply.continues, reply.error == nil else {
            guard let reason = reply.reason else { return touchEnded(.unavailable) }
            let isLocked = reason.isText("lockedOut") || reason.isText("resting")
            if isLocked { farewell = reply.message }
            return touchEnded(isLocked || reason.isText("notMatched") ? .notMatched : .unavailable)
        }
        guard let message = reply.message, message != shown else { return .goOn }
        shown = message
        return .show(message)
    }

    /// Handles that the service closed the connection, or that the time is up.
    mutating func touchEnded(_ outcome: Outcome = .unavailable) -> Step {
        isTouchAwaited = false
        // A user who is typing is not interrupted.
        return takesPassword && !line.isEmpty ? .goOn : .end(outcome)
    }
}
