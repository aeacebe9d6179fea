// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// A thread that runs the jobs of tasks, so that they get on while every thread of the shared pool waits.
///
/// `canEvaluatePolicy` blocks its caller, who may be on the pool, until asynchronous work is done. On the pool that work
/// would wait for a thread that nobody gives back.
package final class WorkerThread: TaskExecutor {
    /// For what a caller waits for.
    package static let preflights = WorkerThread(name: "whorl-preflight")
    /// For evaluations; apart from the preflights, since a program's presenter may block.
    package static let evaluations = WorkerThread(name: "whorl-evaluate")

    /// For operations on protected items.
    package static let releases = WorkerThread(name: "whorl-release")

    private let jobs = Mutex<[UnownedJob]>([])
    private let available = DispatchSemaphore(value: 0)

    private init(name: String) {
        let thread = Thread { [self] in
            while true { runNext() }
        }
        thread.name = name
        thread.start()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        available.signal()
    }

    private func runNext() {
        available.wait()
        // One signal for each job: there is one.
        let job = jobs.withLock { $0.removeFirst() }
        job.runSynchronously(on: asUnownedTaskExecutor())
    }

    /// Does asynchronous work on this thread, and blocks the caller meanwhile.
    ///
    /// It must not be called on this thread.
    package func wait<Value: Sendable>(for work: @escaping @Sendable () async -> Value) -> Value {
        let answer = Answer<Value>()
        let done = DispatchSemaphore(value: 0)
        Task(executorPreference: self) {
            let value = await work()
            answer.value.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        guard let value = answer.value.withLock({ $0 }) else {
            preconditionFailure("the signal comes after the answer")
        }
        return value
    }

    private final class Answer<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }
}
