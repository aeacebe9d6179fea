// SPDX-License-Identifier: Apache-2.0

/// The end of a prompt.
enum Outcome: Equatable {
    /// A finger of the user matched.
    case matched
    /// A password was typed, which another module checks.
    case typed
    /// The fingers that were laid are not the user's.
    case notMatched
    /// No finger can be asked for any longer, or none came.
    case unavailable
    /// A signal came that ends this process, or the person wants to stop.
    case interrupted
    /// The person has stopped the job, and went on with it.
    case stopped
}

/// The race between a touch and a password, without a terminal or a socket: what happens goes in, what to do comes out.
///
/// Nothing but a ``Reply`` that is a match makes it end with ``Outcome/matched``.
struct Race: ~Copyable {
    /// The step after something happened.
    enum Step: Equatable {
        case goOn
        /// The sentence is shown, and the race goes on.
        case show(Bytes)
        case end(Outcome)
    }

    var line: LineEditor
    /// Whether a password may be typed.
    private let takesPassword: Bool
    /// Whether a touch may still come.
    private(set) var isTouchAwaited = true
    /// The sentence that was shown last; the same one again says nothing.
    private var shown: Bytes?
    /// The sentence with which the service refused, where the person should know it.
    private(set) var farewell: Bytes?
    /// The reply that the next message has to be.
    private var phase: Phase

    private enum Phase { case challenged, proving, asking }

    /// Begins a race.
    ///
    /// - Parameters:
    ///   - takesPassword: Whether a password may be typed.
    ///   - keys: The keys that edit the line.
    ///   - isProven: Whether the kernel tells the service which process this is. If not, the first message is the answer to
    ///     a challenge.
    init(takesPassword: Bool, keys: LineEditor.Keys = LineEditor.Keys(), isProven: Bool) {
        line = LineEditor(keys)
        self.takesPassword = takesPassword
        phase = isProven ? .asking : .challenged
    }

    /// Returns the call with which the race begins.
    func firstCall(_ verify: Bytes) -> Bytes { phase == .asking ? verify : Call.challenge }

    /// Takes a key of the person.
    mutating func key(_ key: UInt8) -> Step {
        guard takesPassword else { return .goOn }
        switch line.take(key) {
        case .open: return .goOn
        // A line that is too long is no password; the next module asks.
        case .done: return .end(line.isTooLong ? .unavailable : .typed)
        case .ended: return .end(.unavailable)
        }
    }

    /// Takes a message of the service, and returns the call that follows it, if one does, and the step.
    mutating func message(_ bytes: Bytes, _ verify: Bytes) -> (call: Bytes?, step: Step) {
        guard let reply = Reply(bytes) else { return (nil, touchEnded(.unavailable)) }
        switch phase {
        case .challenged:
            // A service that knows no challenge does not need it.
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
        if reply.isMatch { return .end(.matched) }
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

    /// Takes the word that the service has hung up, or that the time is up.
    mutating func touchEnded(_ outcome: Outcome = .unavailable) -> Step {
        isTouchAwaited = false
        // Somebody who is typing is not interrupted.
        return takesPassword && !line.isEmpty ? .goOn : .end(outcome)
    }
}
