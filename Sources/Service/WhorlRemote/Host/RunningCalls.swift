// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlService

/// The calls in each login session that are prompting the owner.
///
/// A lock of the session, or another session becoming active at its seat, ends them.
final class RunningCalls: Sendable {
    /// Ends a call with the reason that its caller receives.
    typealias End = @Sendable (ServiceError) -> Void

    private struct State {
        var locked: Set<String> = []
        var calls: [UInt64: (session: String, end: End)] = [:]
        var count: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Adds a call, which `end` ends when its session is locked, or immediately if it is already locked.
    ///
    /// - Returns: A number for ``remove(_:)``; `nil` for a call outside any session, which nothing ends.
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
    /// The session gets no new prompts until ``unlock(_:)``.
    package func lock(_ session: String) {
        running.lock(session)
        forget(session)
    }

    /// Does the same for a session whose locker is asked to lock it and may never report the unlocking.
    package func beginLocking(_ session: String) {
        running.end(in: session, because: .sessionLocked)
        forget(session)
    }

    /// Allows prompts for a login session's programs again.
    package func unlock(_ session: String) { running.unlock(session) }

    /// Forgets the proofs of a login session that is no longer active at its seat.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - endsCalls: Whether the prompts of its programs end too, for example if only the active session may prompt
    ///     for a finger.
    package func leave(_ session: String, endsCalls: Bool) {
        if endsCalls { running.end(in: session, because: .sessionInBackground) }
        forget(session)
    }

    private func forget(_ session: String) {
        stays.end(in: session)
        sessions.forget(in: session)
    }

    /// Forgets the proofs of all login sessions, because the machine goes to sleep.
    package func sleep() {
        stays.end()
        sessions.forget()
    }
}
