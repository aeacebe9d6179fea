// SPDX-License-Identifier: Apache-2.0

internal import CWhorlFprint
internal import WhorlGLib
package import WhorlFingerprint
internal import WhorlSupport

/// A reader's state with respect to system sleep.
struct Sleep {
    /// Whether the reader is between ``LibfprintReader/suspend()`` and ``LibfprintReader/resume()``, when no operation
    /// may start.
    var isSuspended = false
    /// Whether libfprint was suspended.
    ///
    /// If so, it refuses every operation, even closing, until it is resumed.
    var isKnownToDriver = false
    /// The number of suspensions.
    ///
    /// An operation during which this number changes has been suspended.
    var count = 0
    /// A function that cancels the operation in progress that is waiting for a finger, if any.
    var interrupt: (@Sendable () -> Void)?
}

extension LibfprintReader {
    /// Prepares for system sleep (`fp_device_suspend()`).
    ///
    /// An operation that is waiting for a finger fails with `suspended`, no matter what its driver supports. Other
    /// operations, which are short, finish first. No operation except closing starts until ``resume()`` is called.
    /// Suspending a suspended reader does nothing. Cancelling the task does not cancel this call.
    ///
    /// What libfprint itself does is not enough (1.94.5). Some of its drivers continue the operation after sleep, so
    /// that anyone who wakes the machine could confirm an earlier request. Other drivers cancel the operation, but
    /// still return a match that was reported a moment earlier. If sleep begins during a short operation, libfprint
    /// misses it, and resuming fails.
    ///
    /// - Throws: `unplugged`. The reader is considered suspended even then.
    package func suspend() async throws(ReaderError) {
        sleep.isSuspended = true
        sleep.count += 1
        sleep.interrupt?()
        try await uncancelled("suspend") { reader async throws(ReaderError) in
            guard !reader.handle.isRemoved else { throw ReaderError(.unplugged, operation: "suspend") }
            // Resumed while this call waited its turn, or suspended twice.
            guard reader.sleep.isSuspended, !reader.sleep.isKnownToDriver else { return }
            try await reader.call("suspend", finish: fp_device_suspend_finish) { cancellable, reply in
                fp_device_suspend(reader.device, cancellable, readyCallback, reply)
            }
            reader.sleep.isKnownToDriver = true
        }
    }

    /// Resumes after system sleep (`fp_device_resume()`).
    ///
    /// Resuming a reader that is not suspended does nothing. Cancelling the task does not cancel this call.
    ///
    /// - Throws: `unplugged`. The reader is considered awake even then.
    package func resume() async throws(ReaderError) {
        try await uncancelled("resume") { reader async throws(ReaderError) in
            reader.sleep.isSuspended = false
            guard !reader.handle.isRemoved else { throw ReaderError(.unplugged, operation: "resume") }
            try await reader.tellDriverToWake()
        }
    }

    /// Resumes libfprint if it was suspended.
    func tellDriverToWake() async throws(ReaderError) {
        guard sleep.isKnownToDriver else { return }
        sleep.isKnownToDriver = false
        try await call("resume", finish: fp_device_resume_finish) { cancellable, reply in
            fp_device_resume(device, cancellable, readyCallback, reply)
        }
    }

    /// Throws an error if the reader is suspended.
    ///
    /// Call this function before an operation starts.
    ///
    /// - Throws: `suspended` between ``suspend()`` and ``resume()``.
    func requireAwake(_ operation: String) throws(ReaderError) {
        guard !sleep.isSuspended else { throw ReaderError(.suspended, operation: operation) }
    }

    /// Throws an error if the reader was suspended during an operation.
    ///
    /// Call this function before returning a match.
    ///
    /// - Throws: `suspended` if the number of suspensions is no longer `count`, which was its value when the operation
    ///   started.
    func requireNoSuspension(since count: Int, _ operation: String) throws(ReaderError) {
        guard sleep.count == count else {
            throw ReaderError(
                .suspended,
                operation: operation,
                cause: "the match arrived during the suspension"
            )
        }
    }

    /// Runs an operation that ``suspend()`` may cancel, and throws `suspended` if that happened.
    func interruptible<Value: Sendable>(
        _ body: () async throws(ReaderError) -> Value
    ) async throws(ReaderError) -> Value {
        let count = sleep.count
        do throws(ReaderError) {
            return try await body()
        } catch  where error.code == .cancelled && sleep.count != count && !Task.isCancelled {
            throw ReaderError(.suspended, operation: error.operation, cause: error.cause)
        }
    }
}

extension LibfprintSource {
    /// Suspends the readers before system sleep, and returns when all of them are closed.
    ///
    /// Operations that wait for a finger fail with `suspended`. libfprint detects connected and disconnected readers
    /// even across sleep, so ``readers()`` is correct afterward.
    ///
    /// - Parameter patience: The maximum time to wait for operations that finish on their own.
    package func suspendReaders(patience: Duration) async {
        for reader in connected {
            // The reader is considered suspended anyway, and no operation starts.
            try? await reader.suspend()
        }
        let readers = connected
        let closing = Task(executorPreference: GLibTaskExecutor.shared) {
            // Closing holds the reader's turn until it has finished; an error means that it took too long.
            for reader in readers { _ = try? await ReaderTurns.take("sleep", on: reader) }
        }
        OffPoolTimer.run(after: patience) { closing.cancel() }
        await closing.value
    }

    /// Resumes the readers after system sleep.
    package func resumeReaders() async {
        for reader in connected {
            // The reader was disconnected during sleep.
            try? await reader.resume()
        }
    }

    /// Makes a round trip to the readers' thread, which proves that the thread is not stuck.
    package func answer() {}
}
