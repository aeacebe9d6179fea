// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlService

/// A queue for derivations, each of which requires 32 MiB of memory and a tenth of a second of CPU time.
///
/// At most two derivations run at a time in this process, and only one for each state directory, so that one user's
/// derivations do not block those of others. A few more may wait for each directory. Any others fail with
/// `passcodeBusy`.
final class DerivationQueue: Sendable {
    /// The queue of this process.
    static let shared = DerivationQueue()

    /// The maximum number of derivations that run at the same time.
    static let mostRunning = 2
    /// The maximum number of waiting derivations per directory.
    static let mostWaiting = 16

    /// Proof that it is a derivation's turn.
    ///
    /// Only the queue creates it.
    struct Turn: Sendable {
        fileprivate init() {}
    }

    private struct Waiter {
        let number: UInt64
        let directory: String
        let go: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var next: UInt64 = 0
        /// The directories that have a derivation in progress.
        var running: [String] = []
        var waiting: [Waiter] = []

        func mayRun(_ directory: String) -> Bool {
            running.count < DerivationQueue.mostRunning && !running.contains(directory)
        }

        /// Returns the next waiter that may run and gives it its turn.
        mutating func admitNext() -> Waiter? {
            guard let place = waiting.firstIndex(where: { mayRun($0.directory) }) else { return nil }
            let waiter = waiting.remove(at: place)
            running.append(waiter.directory)
            return waiter
        }
    }

    private let state = Mutex(State())

    /// Runs `body` when it is the directory's turn.
    ///
    /// - Throws: `passcodeBusy` if too many of the directory's derivations are waiting or the task is cancelled before
    ///   its turn.
    func inTurn<Value: Sendable>(
        of directory: String,
        _ body: (Turn) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        guard await begin(directory) else { throw ServiceError(.passcodeBusy) }
        defer { end(directory) }
        return try await body(Turn())
    }

    /// The number of derivations in progress and the number of waiting ones.
    var counts: (running: Int, waiting: Int) { state.withLock { ($0.running.count, $0.waiting.count) } }

    private func begin(_ directory: String) async -> Bool {
        let number: UInt64? = state.withLock { state in
            state.next += 1
            guard state.mayRun(directory) else { return state.next }
            state.running.append(directory)
            return nil
        }
        guard let number else { return true }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { go in
                let isWaiting = state.withLock { state in
                    // A task is marked before its handler runs: either the handler finds it here, or it does not wait.
                    guard !Task.isCancelled,
                        state.waiting.count(where: { $0.directory == directory }) < Self.mostWaiting
                    else { return false }
                    state.waiting.append(Waiter(number: number, directory: directory, go: go))
                    return true
                }
                if isWaiting { admit() } else { go.resume(returning: false) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
            }
            waiter?.go.resume(returning: false)
        }
    }

    private func end(_ directory: String) {
        state.withLock { state in
            if let place = state.running.firstIndex(of: directory) { state.running.remove(at: place) }
        }
        admit()
    }

    /// Resumes the waiters whose turn it is.
    private func admit() {
        while let waiter = state.withLock({ $0.admitNext() }) { waiter.go.resume(returning: true) }
    }
}
