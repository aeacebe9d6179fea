// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import WhorlSupport

/// Stores connections whose calls have been answered, so that calls that follow within a second can reuse them.
///
/// A service identifies its caller by the connection. So a connection is not reused if the process that created it has
/// forked this one, or if this process has changed its user since then.
package final class IdleConnections: Sendable {
    /// The process and the user that a connection represents.
    struct Owner: Sendable, Hashable {
        let process: Int32
        let user: UInt32
        let group: UInt32

        /// The current process.
        static var current: Owner { Owner(process: getpid(), user: geteuid(), group: getegid()) }
    }

    private struct Kept {
        let socket: Descriptor
        let owner: Owner
        /// The round of ``closeOld()`` during which the connection was stored.
        let round: UInt64
    }

    private struct State {
        var kept: [Kept] = []
        var round: UInt64 = 0
        var isTimed = false
    }

    /// The maximum number of idle connections; each one counts toward the user's share of the service.
    private static let most = 4

    private let state = Mutex(State())
    private let owner: @Sendable () -> Owner
    private let time: Duration

    package convenience init() { self.init(for: .milliseconds(500), owner: { .current }) }

    /// Creates storage in which a connection stays for at least `time`, and at most twice as long.
    init(for time: Duration, owner: @escaping @Sendable () -> Owner) {
        self.time = time
        self.owner = owner
    }

    /// Removes and returns a connection that is open and has no unread data.
    ///
    /// - Returns: The connection, which may end before the service reads from it; `nil` if none is stored.
    package func take() -> Descriptor? {
        let owner = owner()
        while let kept = state.withLock({ $0.kept.popLast() }) {
            if kept.owner == owner, UnixSocket.isQuiet(kept.socket) { return kept.socket }
        }
        return nil
    }

    /// Stores a connection that has no call in progress.
    package func keep(_ socket: Descriptor) {
        let owner = owner()
        let startsTimer = state.withLock { state in
            guard state.kept.count < Self.most else { return false }
            state.kept.append(Kept(socket: socket, owner: owner, round: state.round))
            defer { state.isTimed = true }
            return !state.isTimed
        }
        if startsTimer { closeLater() }
    }

    private func closeLater() {
        OffPoolTimer.run(after: time) { [weak self] in self?.closeOld() }
    }

    /// Closes connections stored before the round that is ending, and begins another round if any connections are left.
    private func closeOld() {
        let goesOn = state.withLock { state in
            state.kept.removeAll { $0.round < state.round }
            state.round += 1
            state.isTimed = !state.kept.isEmpty
            return state.isTimed
        }
        if goesOn { closeLater() }
    }
}
