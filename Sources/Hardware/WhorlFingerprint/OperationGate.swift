// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Runs one operation at a time, while others wait in order or fail with `busy`.
///
/// An actor alone cannot do this, because it lets a second call in while the first one is suspended at an `await`.
package final class OperationGate: Sendable {
    private struct State {
        var occupied = false
        var nextTicket: UInt64 = 0
        var waiting: [(ticket: UInt64, wake: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Runs `body` exclusively.
    ///
    /// - Throws: `busy` if another operation is in progress and `policy` is `fail`, `cancelled` if the task was
    ///   cancelled while waiting, or the errors of `body`.
    package func run<Value: Sendable>(
        _ operation: String,
        whenBusy policy: BusyPolicy,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws(ReaderError) -> Value
    ) async throws(ReaderError) -> Value {
        try await enter(operation, policy)
        defer { leave() }
        return try await body()
    }

    /// Runs `body` exclusively, even if the task is cancelled, so that cleanup waits for the operation in progress.
    ///
    /// It does not start another task, because a program that blocks the shared pool would keep that task from running.
    package func runUncancelled<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () -> Value
    ) async -> Value {
        _ = await withCheckedContinuation { wake in
            let isFree = state.withLock { state in
                guard state.occupied else {
                    state.occupied = true
                    return true
                }
                // Ticket 0 is never issued, so that this waiter cannot be cancelled.
                state.waiting.append((0, wake))
                return false
            }
            if isFree { wake.resume(returning: true) }
        }
        defer { leave() }
        return body()
    }

    /// Waits for the gate or fails with `busy`.
    ///
    /// A caller that enters the gate must also leave it.
    ///
    /// - Returns: Whether the caller had to wait.
    @discardableResult
    func enter(_ operation: String, _ policy: BusyPolicy) async throws(ReaderError) -> Bool {
        let ticket: UInt64? = try state.withLock { state throws(ReaderError) in
            guard state.occupied else {
                state.occupied = true
                return nil
            }
            guard policy == .wait else { throw ReaderError(.busy, operation: operation) }
            state.nextTicket += 1
            return state.nextTicket
        }
        guard let ticket else { return false }
        guard await waitTurn(ticket) else { throw ReaderError(.cancelled, operation: operation) }
        return true
    }

    /// Returns whether the caller's turn came, or `false` if the task was cancelled first.
    private func waitTurn(_ ticket: UInt64) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { wake in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    guard state.occupied else {
                        state.occupied = true
                        return true
                    }
                    state.waiting.append((ticket, wake))
                    return nil
                }
                if let answer { wake.resume(returning: answer) }
            }
        } onCancel: {
            let cancelled = state.withLock { state in
                state.waiting.firstIndex { $0.ticket == ticket }.map { state.waiting.remove(at: $0).wake }
            }
            cancelled?.resume(returning: false)
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard !state.waiting.isEmpty else {
                state.occupied = false
                return nil
            }
            return state.waiting.removeFirst().wake
        }
        next?.resume(returning: true)
    }
}
