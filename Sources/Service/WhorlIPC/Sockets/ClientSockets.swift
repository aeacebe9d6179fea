// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc
internal import Synchronization
internal import WhorlSupport

/// Closes connections to clients.
///
/// An unread message may contain the descriptor of a lingering socket, and closing the connection also closes that
/// socket. To avoid blocking a thread of this process, a child process inherits such connections and closes them by
/// exiting.
final class ClientSockets: Sendable {
    static let shared = ClientSockets()

    private struct State {
        var waiting: [Int32] = []
        var isClosing = false
    }

    /// The maximum number of child processes at a time; each runs only briefly.
    private static let mostChildren = 16

    private let state = Mutex(State())

    /// Closes a connection without waiting.
    func close(_ number: Int32) {
        if whorl_end_quietly(number) != 0 {
            _ = Glibc.close(number)
            return
        }
        let begins = state.withLock { state in
            state.waiting.append(number)
            defer { state.isClosing = true }
            return !state.isClosing
        }
        if begins { begin() }
    }

    private func begin() {
        if startThread("whorl.closing", { [self] in run() }) { return }
        OffPoolTimer.run(after: .seconds(1)) { [self] in begin() }
    }

    private func run() {
        var children: [Int32] = []
        while true {
            children.removeAll { waitpid($0, nil, WNOHANG) != 0 }
            let batch = children.count < Self.mostChildren ? state.withLock(\.waiting) : []
            if !batch.isEmpty {
                let child = whorl_close_in_child(batch, Int32(batch.count))
                if child > 0 {
                    children.append(child)
                    state.withLock { $0.waiting.removeFirst(batch.count) }
                    continue
                }
            }
            let isDone = state.withLock { state in
                guard state.waiting.isEmpty, children.isEmpty else { return false }
                state.isClosing = false
                return true
            }
            if isDone { return }
            usleep(10_000)
        }
    }
}
