// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The statuses of one enrollment or verification, as clients hear them: after the one that ends it, none is sent.
final class StatusReport: Sendable {
    private struct State {
        var hasEnded = false
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let send: @Sendable (FprintStatus) -> Void

    /// Makes a report that sends statuses with a function.
    init(_ send: @escaping @Sendable (FprintStatus) -> Void) { self.send = send }

    /// Sends a status, unless the one that ends the operation was sent.
    func tell(_ status: FprintStatus) {
        let isLate = state.withLock { state in
            defer { state.hasEnded = state.hasEnded || status.isDone }
            return state.hasEnded
        }
        if !isLate { send(status) }
    }

    /// Takes in that the client has ended the operation; what the reader says from now on decides nothing.
    func cancel() { state.withLock { $0.isCancelled = true } }

    /// Whether the status that ends the operation was sent.
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// Whether the client has ended the operation.
    var isCancelled: Bool { state.withLock(\.isCancelled) }
}
