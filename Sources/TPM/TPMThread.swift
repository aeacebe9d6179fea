// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation

/// Runs the jobs of one actor on a thread of its own, in their order.
///
/// ESAPI calls block, for seconds on a real chip; on Swift's cooperative pool they would hold up unrelated tasks.
final class TPMThread: SerialExecutor {
    private let queue = JobQueue()
    /// A serial queue gets a thread even when every thread of Swift's shared pool waits.
    private static let clock = DispatchQueue(label: "whorl.tpm-clock")

    init() {
        let queue = queue
        let thread = Thread {
            Self.blockBrokenPipe()
            // Weak would end too early: jobs hold the actor, the actor holds this, so a job implies that it lives.
            while let job = queue.next() { job() }
        }
        thread.name = "whorl-tpm"
        thread.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.add { [self] in
            queue.mark(Thread.current)
            job.runSynchronously(on: asUnownedSerialExecutor())
        }
    }

    func isIsolatingCurrentContext() -> Bool? { queue.isMarked(Thread.current) }

    func checkIsolated() { precondition(queue.isMarked(Thread.current), "not on the TPM's thread") }

    /// Runs a job on the thread after so long, at most a day; never when the thread has ended by then.
    func run(after duration: Duration, _ job: @escaping @Sendable () -> Void) {
        let milliseconds = Int((min(duration, .seconds(86_400)) / .milliseconds(1)).rounded(.up))
        Self.clock.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [queue] in
            queue.add {
                queue.mark(Thread.current)
                job()
            }
        }
    }

    /// Ends the thread after the jobs that are there, and a last one.
    func stop(_ last: @escaping @Sendable () -> Void) {
        queue.add(last)
        queue.close()
    }

    /// The simulators' TCTIs write to sockets without MSG_NOSIGNAL: a simulator that dies in the wrong moment would
    /// end the whole program.
    private static func blockBrokenPipe() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

/// The jobs that wait for the thread.
///
/// Unchecked: every access to the mutable state holds the condition's lock.
private final class JobQueue: @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [@Sendable () -> Void] = []
    private var isClosed = false
    private var thread: Thread?

    func add(_ job: @escaping @Sendable () -> Void) {
        condition.withLock { jobs.append(job) }
        condition.signal()
    }

    /// The next job, waiting for one; `nil` when the queue is closed and empty.
    func next() -> (@Sendable () -> Void)? {
        condition.lock()
        defer { condition.unlock() }
        while jobs.isEmpty && !isClosed { condition.wait() }
        return jobs.isEmpty ? nil : jobs.removeFirst()
    }

    func close() {
        condition.withLock { isClosed = true }
        condition.signal()
    }

    func mark(_ current: Thread) { condition.withLock { thread = current } }
    func isMarked(_ current: Thread) -> Bool { condition.withLock { thread === current } }
}
