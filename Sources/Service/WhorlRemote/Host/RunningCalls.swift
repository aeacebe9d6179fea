// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlService

/// The calls of each login session during which the owner is being asked; a lock of the session, or another session at its
/// seat, ends them.
final class RunningCalls: Sendable {
    /// Ends a call with the reason that its caller gets.
    typealias End = @Sendable (ServiceError) -> Void

    private struct State {
        var locked: Set<String> = []
        var calls: [UInt64: (session: String, end: End)] = [:]
        var count: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Adds a call, which `end` ends when its session is locked; at once where it is locked already.
    ///
    /// - Returns: A number for ``remove(_:)``; `nil` for a call of no session, which nothing ends.
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

    /// Ends the calls of a session that is being locked, and those that come until ``unlock(_:)``.
    func lock(_ session: String) {
        state.withLock { _ = $0.locked.insert(session) }
        end(in: session, because: .sessionLocked)
    }

    /// Ends the calls of a session.
    func end(in session: String, because reason: ServiceError) {
        let ends = state.withLock { state in
            state.calls.values.filter { $0.session == session }.map(\.end)
        }
        for end in ends { end(reason) }
    }

    /// Lets calls of a session begin again.
    func unlock(_ session: String) { state.withLock { _ = $0.locked.remove(session) } }
}

extension ServiceHost {
    /// Ends what a login session's programs ask, and forgets what was shown there, since its screen is locked; nothing else
    /// is asked there until ``unlock(_:)``.
    package func lock(_ session: String) {
        running.lock(session)
        forget(session)
    }

    /// The same for a session whose locker is asked to lock it, and may never say when it has unlocked it again.
    package func beginLocking(_ session: String) {
        running.end(in: session, because: .sessionLocked)
        forget(session)
    }

    /// Takes questions of a login session's programs again.
    package func unlock(_ session: String) { running.unlock(session) }

    /// Forgets what was shown in a login session that its seat shows no longer.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - endsCalls: Whether what its programs ask ends too, as where only the session that is shown may ask for a finger.
    package func leave(_ session: String, endsCalls: Bool) {
        if endsCalls { running.end(in: session, because: .sessionInBackground) }
        forget(session)
    }

    private func forget(_ session: String) {
        stays.end(in: session)
        sessions.forget(in: session)
    }

    /// Forgets what was shown in all login sessions, since the machine goes to sleep.
    package func sleep() {
        stays.end()
        sessions.forget()
    }
}
