// SPDX-License-Identifier: Apache-2.0

internal import CWhorlFprint
internal import WhorlGLib
package import WhorlFingerprint
internal import WhorlSupport

/// A reader's state with respect to the system's sleep.
struct Sleep {
    /// Whether the reader is between ``LibfprintReader/suspend()`` and ``LibfprintReader/resume()``: no operation may
    /// begin.
    var isSuspended = false
    /// Whether libfprint was told; it then refuses every operation, even closing, until it is resumed.
    var isKnownToDriver = false
    /// The number of suspensions; an operation that sees it change was running during one.
    var count = 0
    /// A function that cancels the running operation that waits for a finger.
    var interrupt: (@Sendable () -> Void)?
}

extension LibfprintReader {
    /// Prepares for the system's sleep (`fp_device_suspend()`).
    ///
    /// An operation that waits for a finger ends with `suspended`, whatever its driver supports; other operations,
    /// which are short, finish first. From this call on, no operation begins until ``resume()``, except that the reader
    /// may be closed. Suspending a suspended reader does nothing. This call is not cancelled with its task.
    ///
    /// libfprint alone is not enough (1.94.5). Some of its drivers continue the operation after the sleep, so that the
    /// person who wakes the machine would answer a request from before it. Other drivers cancel the operation, but a
    /// match that the driver reported a moment earlier is still returned. And a sleep that begins during a short
    /// operation is forgotten, so that resuming fails.
    ///
    /// - Throws: `unplugged`; the reader counts as suspended even then.
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

    /// Resumes after the system's sleep (`fp_device_resume()`).
    ///
    /// Resuming a reader that is not suspended does nothing. This call is not cancelled with its task.
    ///
    /// - Throws: `unplugged`; the reader counts as awake even then.
    package func resume() async throws(ReaderError) {
        try await uncancelled("resume") { reader async throws(ReaderError) in
            reader.sleep.isSuspended = false
            guard !reader.handle.isRemoved else { throw ReaderError(.unplugged, operation: "resume") }
            try await reader.tellDriverToWake()
        }
    }

    /// Resumes libfprint, if it was told to suspend.
    func tellDriverToWake() async throws(ReaderError) {
        guard sleep.isKnownToDriver else { return }
        sleep.isKnownToDriver = false
        try await call("resume", finish: fp_device_resume_finish) { cancellable, reply in
            fp_device_resume(device, cancellable, readyCallback, reply)
        }
    }

    /// Throws if the reader is suspended; for operations that are about to begin.
    ///
    /// - Throws: `suspended` between ``suspend()`` and ``resume()``.
    func requireAwake(_ operation: String) throws(ReaderError) {
        guard !sleep.isSuspended else { throw ReaderError(.suspended, operation: operation) }
    }

    /// Throws if the reader was suspended during an operation; for a match that the operation is about to return.
    ///
    /// - Throws: `suspended` if the number of suspensions is no longer `count`, its value when the operation began.
    func requireNoSuspension(since count: Int, _ operation: String) throws(ReaderError) {
        guard sleep.count == count else {
            throw ReaderError(.suspended, operation: operation, cause: "the match came with the suspension")
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
    /// Suspends the readers before the machine's sleep, and returns when all are closed.
    ///
    /// What waits for a finger ends with `suspended`. libfprint follows readers that come and go by itself, also over a
    /// sleep, so that ``readers()`` returns those that are connected afterwards.
    ///
    /// - Parameter patience: The longest wait for operations that end by themselves.
    package func suspendReaders(patience: Duration) async {
        for reader in connected {
            // The reader counts as suspended all the same, and no operation begins.
            try? await reader.suspend()
        }
        let readers = connected
        let closing = Task(executorPreference: GLibTaskExecutor.shared) {
            // Closing keeps a reader's turn until it has ended; an error is that of a reader that took too long.
            for reader in readers { _ = try? await ReaderTurns.take("sleep", on: reader) }
        }
        OffPoolTimer.run(after: patience) { closing.cancel() }
        await closing.value
    }

    /// Resumes the readers after the machine's sleep.
    package func resumeReaders() async {
        for reader in connected {
            // A reader that went away during the sleep is no longer connected.
            try? await reader.resume()
        }
    }

    /// Returns when the thread of the readers has run a job, so that it is not stuck.
    package func answer() {}
}
