// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import WhorlSupport

/// Keeps connections whose calls have been answered, for the calls that follow within a second.
///
/// A connection is what its service knows of the caller. So one that another process made, before it forked, or this one
/// under another user's number, is not used again.
package final class IdleConnections: Sendable {
    /// The process and the user that a connection stands for.
    struct Owner: Sendable, Hashable {
        let process: Int32
        let user: UInt32
        let group: UInt32

        /// This process, as it is now.
        static var current: Owner { Owner(process: getpid(), user: geteuid(), group: getegid()) }
    }

    private struct Kept {
        let socket: Descriptor
        let owner: Owner
        /// The round of ``closeOld()`` after which it was kept.
        let round: UInt64
    }

    private struct State {
        var kept: [Kept] = []
        var round: UInt64 = 0
        var isTimed = false
    }

    /// The most connections that wait; each takes a place of those that the service grants a user.
    private static let most = 4

    private let state = Mutex(State())
    private let owner: @Sendable () -> Owner
    private let time: Duration

    package convenience init() { self.init(for: .milliseconds(500), owner: { .current }) }

    /// Describes connections that are kept for `time` at least, and for twice that time at most.
    init(for time: Duration, owner: @escaping @Sendable () -> Owner) {
        self.time = time
        self.owner = owner
    }

    /// Takes a connection that is open and on which nothing waits to be read.
    ///
    /// - Returns: The connection, which may end before the service reads from it; `nil` where none is kept.
    package func take() -> Descriptor? {
        let owner = owner()
        while let kept = state.withLock({ $0.kept.popLast() }) {
            if kept.owner == owner, UnixSocket.isQuiet(kept.socket) { return kept.socket }
        }
        return nil
    }

    /// Keeps a connection on which no call is under way.
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

    /// Closes what was kept before the round that ends now, and begins another where something is left.
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
