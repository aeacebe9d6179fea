// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import Synchronization

/// A thread that runs jobs in order, for work that blocks or that must not wait for Swift's shared pool.
///
/// It runs until ``close()``.
package final class JobThread: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isClosed = false
        var thread: pthread_t?
    }

    private let state = Mutex(State())
    /// A semaphore that counts the jobs and the closing.
    private let available = DispatchSemaphore(value: 0)

    /// Starts the thread; ends the process if the system has no thread left, since a job that never runs would hang its
    /// caller.
    package init(_ name: String) {
        requireThread(name) { [self] in
            state.withLock { $0.thread = pthread_self() }
            while let job = next() { job() }
        }
    }

    /// Adds a job after the waiting ones.
    package func add(_ job: @escaping @Sendable () -> Void) {
        state.withLock { $0.jobs.append(job) }
        available.signal()
    }

    /// Ends the thread after the jobs that are waiting now; a later job never runs.
    package func close() {
        state.withLock { $0.isClosed = true }
        available.signal()
    }

    /// Whether the caller runs on this thread.
    package var isCurrent: Bool {
        let current = pthread_self()
        return state.withLock { $0.thread.map { pthread_equal($0, current) != 0 } ?? false }
    }

    /// Waits for the next job; returns `nil` if the queue is closed and empty.
    private func next() -> (@Sendable () -> Void)? {
        while true {
            available.wait()
            let (job, isClosed) = state.withLock { state in
                (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isClosed)
            }
            if job != nil || isClosed { return job }
        }
    }
}
