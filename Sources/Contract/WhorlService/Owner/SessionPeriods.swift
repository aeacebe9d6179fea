// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The stays in login sessions, each under a name that no other stay has.
///
/// A stay ends when the screen of its session is locked, when its seat shows another session, and when the machine sleeps.
/// Another process does not know what ended before it began: it gives every session another name.
package final class SessionPeriods: Sendable {
    private struct State {
        var process = randomName()
        var ends: [String: UInt64] = [:]
        /// The time until which an earlier match may be asked for.
        var heldUntil: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns the name of the present stay in a login session; `nil` stands for programs that belong to none.
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

    /// Notes that the names are needed for so long.
    package func hold(for window: Duration) {
        let end = ContinuousClock.now + window
        state.withLock { $0.heldUntil = max($0.heldUntil ?? end, end) }
    }

    /// Whether the names are needed, so that the process that knows them should not leave yet.
    package var isHeld: Bool { state.withLock { $0.heldUntil.map { ContinuousClock.now < $0 } ?? false } }
}

/// Returns 128 random bits as a text.
private func randomName() -> String {
    var generator = SystemRandomNumberGenerator()
    return "\(String(generator.next(), radix: 36))-\(String(generator.next(), radix: 36))"
}
