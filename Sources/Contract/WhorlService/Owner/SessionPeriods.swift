// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The uninterrupted periods of login sessions, called stays, each with a unique name.
///
/// A stay ends when the session's screen is locked, when its seat switches to another session, and when the machine
/// sleeps. A new process does not know which stays ended before it started, so it gives every session a new name.
package final class SessionPeriods: Sendable {
    private struct State {
        var process = randomName()
        var ends: [String: UInt64] = [:]
        /// The time until which an earlier match may be reused.
        var heldUntil: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns the name of the current stay in a login session; `nil` stands for programs outside of any session.
    package func name(of session: String?) -> String {
        state.withLock { state in
            "\(state.process) \(session.map { "\(state.ends[$0, default: 0]) \($0)" } ?? "")"
        }
    }

    /// Ends the stay in a login session, or in all of them.
    package func end(in session: String? = nil) {
        state.withLock { state in
            guard let session else {
                state.process = randomName()
                state.ends = [:]
                return
            }
            state.ends[session, default: 0] &+= 1
        }
    }

    /// Records that the names are needed for the given time.
    package func hold(for window: Duration) {
        let end = ContinuousClock.now + window
        state.withLock { $0.heldUntil = max($0.heldUntil ?? end, end) }
    }

    /// Whether the names are still needed, so that the process that knows them should not exit yet.
    package var isHeld: Bool { state.withLock { $0.heldUntil.map { ContinuousClock.now < $0 } ?? false } }
}

/// Returns 128 random bits as text.
private func randomName() -> String {
    var generator = SystemRandomNumberGenerator()
    return "\(String(generator.next(), radix: 36))-\(String(generator.next(), radix: 36))"
}
