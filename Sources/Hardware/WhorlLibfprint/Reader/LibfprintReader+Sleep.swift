// SPDX-License-Identifier: Apache-2.0

internal import CWhorlFprint
internal import WhorlGLib
package import WhorlFingerprint
internal import WhorlSupport

/// A reader's state with respect to system sleep.
struct Sleep {
    /// Whether the reader is between ``LibfprintReader/suspend()`` and ``LibfprintReader/resume()``: no operation may
    /// start.
    var isSuspended = false
    /// Whether libfprint was suspended; it then refuses every operation, even closing, until it is resumed.
    var isKnownToDriver = false
    /// The number of suspensions; an operation during which it changes has been suspended.
    var count = 0
    /// Cancels the running operation that waits for a finger.
    var interrupt: (@Sendable () -> Void)?
}

extension LibfprintReader {
    /// Prepares for system sleep (`fp_device_suspend()`).
    ///
    /// An operation that waits for a finger fails with `suspended`, whatever its driver supports; other operations,
    /// which are short, finish first. No operation starts until ``resume()``, except closing. Suspending a suspended
    /// reader does nothing. This call is not cancelled with its task.
    ///
    /// libfprint alone is not enough (1.94.5). Some of its drivers continue the operation after sleep, so that anyone
    /// who wakes the machine would confirm an earlier request. Other drivers cancel the operation, but still return a
    /// match reported a moment earlier. Sleep that begins during a short operation is lost, so that resuming fails.
    ///
    /// - Throws: `unplugged`; the reader is considered suspended even then.
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
    /// Resuming a reader that is not suspended does nothing. This call is not cancelled with its task.
    ///
    /// - Throws: `unplugged`; the reader is considered awake even then.
    package func resume() async throws(ReaderError) {
        try await uncancelled("resume") { reader async throws(ReaderError) in
            reader.sleep.isSuspended = false
            guard !reader.handle.isRemoved else { throw ReaderError(.unplugged, operation: "resume") }
            try await reader.tellDriverToWake()
        }
    }

    /// Resumes libfprint, if it was suspended.
    func tellDriverToWake() async throws(ReaderError) {
        guard sleep.isKnownToDriver else { return }
        sleep.isKnownToDriver = false
        try await call("resume", finish: fp_device_resume_finish) { cancellable, reply in
            fp_device_resume(device, cancellable, readyCallback, reply)
        }
    }

    /// Throws if the reader is suspended; called before an operation starts.
    ///
    /// - Throws: `suspended` between ``suspend()`` and ``resume()``.
    func requireAwake(_ operation: String) throws(ReaderError) {
        guard !sleep.isSuspended else { throw ReaderError(.suspended, operation: operation) }
    }

    /// Throws if the reader was suspended during an operation; called before a match is returned.
    ///
    /// - Throws: `suspended` if the number of suspensions is no longer `count`, its value when the operation started.
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
    /// Suspends the readers before system sleep, and returns when all are closed.
    ///
    /// Operations that wait for a finger fail with `suspended`. libfprint detects connected and disconnected readers
    /// even across sleep, so that ``readers()`` is correct afterwards.
    ///
    /// - Parameter patience: The longest wait for operations that finish on their own.
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

    /// Returns after a round trip to the readers' thread, which proves that it is not stuck.
    package func answer() {}
}
