// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// One thread on which a caller's blocking question is answered.
///
/// `canEvaluatePolicy` blocks its caller, who may occupy every thread of Swift's pool: the answer must not need one
/// of those. Tasks that prefer this executor, and the actors without one of their own that they call, run here.
final class PreflightThread: TaskExecutor {
    static let shared = PreflightThread()

    private let jobs = Mutex<[UnownedJob]>([])
    private let waiting = DispatchSemaphore(value: 0)

    private init() {
        // It is there for the process's whole life, as the shared instance is.
        let thread = Thread { [self] in
            while true { runNext() }
        }
        thread.name = "whorl-preflight"
        thread.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        waiting.signal()
    }

    private func runNext() {
        waiting.wait()
        let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        job?.runSynchronously(on: asUnownedTaskExecutor())
    }

    /// Blocks the caller until `body` has answered on the thread.
    static func answer<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
        let answer = Answer<Value>()
        Task(executorPreference: shared) { answer.give(await body()) }
        return answer.wait()
    }
}

/// A value that one thread waits for.
private final class Answer<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let given = DispatchSemaphore(value: 0)

    func give(_ new: Value) {
        value.withLock { $0 = new }
        given.signal()
    }

    func wait() -> Value {
        given.wait()
        guard let value = value.withLock({ $0 }) else { preconditionFailure("the answer was given before the signal") }
        return value
    }
}
