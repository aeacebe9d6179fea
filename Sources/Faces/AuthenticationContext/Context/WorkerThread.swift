// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import GLibRuntime
internal import Synchronization
internal import WhorlSupport

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

    private let thread: JobThread

    private init(name: String) { thread = JobThread(name) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        thread.add { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Does asynchronous work on this thread, and blocks the caller meanwhile.
    ///
    /// It must not be called on this thread.
    package func wait<Value: Sendable>(for work: @escaping @Sendable () async -> Value) -> Value {
        let answer = Answer<Value>()
        let done = DispatchSemaphore(value: 0)
        MainContext.wait(for: done) { wakeUp in
            Task(executorPreference: self) {
                let value = await work()
                answer.value.withLock { $0 = value }
                done.signal()
                wakeUp()
            }
        }
        guard let value = answer.value.withLock({ $0 }) else {
            preconditionFailure("the signal comes after the answer")
        }
        return value
    }

    private final class Answer<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }
}
