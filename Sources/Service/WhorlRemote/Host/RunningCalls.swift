// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlService

/// The calls in each login session that are prompting the owner.
///
/// They end when the session is locked or another session becomes active on its seat.
final class RunningCalls: Sendable {
    /// Ends a call with the reason that its caller receives.
    typealias End = @Sendable (ServiceError) -> Void

    private struct State {
        var locked: Set<String> = []
        var calls: [UInt64: (session: String, end: End)] = [:]
        var count: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Adds a call.
    ///
    /// When its session is locked, the call is ended by `end`; if the session is already locked, this happens
    /// immediately.
    ///
    /// - Returns: A number for ``remove(_:)``; `nil` for a call outside any session, which is never ended in this way.
    func add(in session: String?, _ end: @escaping End) -> UInt64? {
        guard let session else { return nil }
        let (number, isLocked) = state.withLock { state in
            state.count += 1
            state.calls[state.count] = (session, end)
            return (state.count, state.locked.contains(session))
        }
        if isLocked { end(.sessionLocked) }
        return number
    }

    /// Removes a call that has ended.
    func remove(_ number: UInt64?) {
        guard let number else { return }
        state.withLock { _ = $0.calls.removeValue(forKey: number) }
    }

    /// Ends the calls of a session that is being locked, and refuses new ones until ``unlock(_:)``.
    func lock(_ session: String) {
        state.withLock { _ = $0.locked.insert(session) }
        end(in: session, because: .sessionLocked)
    }

    /// Ends the calls of a session with a reason.
    func end(in session: String, because reason: ServiceError) {
        let ends = state.withLock { state in
            state.calls.values.filter { $0.session == session }.map(\.end)
        }
        for end in ends { end(reason) }
    }

    /// Ends all calls with a reason.
    func endAll(because reason: ServiceError) {
        for end in state.withLock({ $0.calls.values.map(\.end) }) { end(reason) }
    }

    /// Allows calls of a session again.
    func unlock(_ session: String) { state.withLock { _ = $0.locked.remove(session) } }
}

extension ServiceHost {
    /// Ends the prompts of a login session's programs and forgets its proofs, because its screen is locked.
    ///
    /// Programs in the session cannot prompt again until ``unlock(_:)`` is called.
    package func lock(_ session: String) {
        running.lock(session)
        forget(session)
    }

    /// Does the same for a session that is about to be locked, but does not wait for ``unlock(_:)``, because the screen
    /// locker may never report that the session was unlocked.
    package func beginLocking(_ session: String) {
        running.end(in: session, because: .sessionLocked)
        forget(session)
    }

    /// Allows prompts for a login session's programs again.
    package func unlock(_ session: String) { running.unlock(session) }

    /// Forgets the proofs of a login session that is no longer active on its seat.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - endsCalls: Whether to end the prompts of its programs as well, for example if only the active session may
    ///     prompt for a finger.
    package func leave(_ session: String, endsCalls: Bool) {
        if endsCalls { running.end(in: session, because: .sessionInBackground) }
        // A screen is unlocked at its seat, whatever else is allowed elsewhere.
        screenUnlocks.end(in: session, because: .sessionInBackground)
        forget(session)
    }

    private func forget(_ session: String) {
        stays.end(in: session)
        sessions.forget(in: session)
    }

    /// Forgets the proofs of all login sessions, because the machine is going to sleep.
    package func sleep() {
        stays.end()
        sessions.forget()
    }
}
