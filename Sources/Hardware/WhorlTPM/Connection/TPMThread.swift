// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// An executor that runs the jobs of one actor on its own thread, in order.
///
/// ESAPI calls block, for seconds on a real chip; on Swift's cooperative pool they would hold up unrelated tasks. The
/// thread blocks all signals: the simulators' TCTIs write to sockets without MSG_NOSIGNAL, and a simulator that dies in
/// the wrong moment would end the whole program with SIGPIPE.
final class TPMThread: SerialExecutor {
    private let thread = JobThread("whorl-tpm")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        thread.add { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    func isIsolatingCurrentContext() -> Bool? { thread.isCurrent }

    func checkIsolated() { precondition(thread.isCurrent, "not on the TPM's thread") }

    /// Runs a job on the thread after a delay of at most a day; never if the thread has ended by then.
    func run(after duration: Duration, _ job: @escaping @Sendable () -> Void) {
        OffPoolTimer.run(after: min(duration, .seconds(86_400))) { [thread] in thread.add(job) }
    }

    /// Ends the thread after the waiting jobs and one last job.
    func stop(_ last: @escaping @Sendable () -> Void) {
        thread.add(last)
        thread.close()
    }
}
