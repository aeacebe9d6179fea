// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization

/// A program that blocks every thread of Swift's shared pool, as `canEvaluatePolicy` on each of them would.
///
/// The pool stays blocked, so a test with it is a process of its own (`processExitsWith`).
package enum BlockedPool {
    /// Runs `body` on a thread of its own while every thread of the pool waits.
    ///
    /// - Returns: Whether it ended in time, and without an error.
    package static func run(_ body: @escaping @Sendable () async throws -> Void) -> Bool {
        let never = DispatchSemaphore(value: 0)
        for _ in 0..<ProcessInfo.processInfo.activeProcessorCount * 4 { Task.detached { never.wait() } }
        let probed = DispatchSemaphore(value: 0)
        // The pool is blocked when a task does not begin any more; this thread is one of the pool too.
        repeat { Task.detached { probed.signal() } } while probed.wait(timeout: .now() + 0.3) == .success
        let done = DispatchSemaphore(value: 0)
        let failed = Mutex(false)
        Task(executorPreference: OneThread.shared) {
            do { try await body() } catch { failed.withLock { $0 = true } }
            done.signal()
        }
        return done.wait(timeout: .now() + 300) == .success && !failed.withLock { $0 }
    }
}

/// A thread that runs the jobs of tasks that prefer it.
private final class OneThread: TaskExecutor {
    static let shared = OneThread()
    private let queue = DispatchQueue(label: "one thread")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
