// SPDX-License-Identifier: Apache-2.0

internal import CFprint
public import Fingerprint
internal import GLibRuntime

/// What a reader knows of the system's sleep.
struct Sleep {
    /// From ``LibfprintReader/suspend()`` to ``LibfprintReader/resume()``: nothing may begin.
    var isSuspended = false
    /// Whether libfprint was told; it then refuses everything, closing too, until it is told otherwise.
    var isKnownToDriver = false
    /// How often the reader was suspended; an operation that sees it change was running then.
    var count = 0
    /// Cancels the running operation that waits for a finger.
    var interrupt: (@Sendable () -> Void)?
}

extension LibfprintReader {
    /// Prepares for the system's sleep (`fp_device_suspend()`).
    ///
    /// An operation that waits for a finger ends with `suspended`, whatever its driver could do; others, which are
    /// short, end first. From the call on nothing begins until ``resume()``, except that the reader may be closed.
    /// Suspending a suspended reader does nothing. It is not cancelled with its task.
    ///
    /// libfprint alone would not do (1.94.5). Some of its drivers let the operation go on after the sleep, so that
    /// whoever wakes the machine answers what was asked before; the others have it cancelled, but a match that the
    /// driver reported a moment earlier still comes out. And a sleep that begins during a short operation is
    /// forgotten, so that resuming fails.
    ///
    /// - Throws: `unplugged`; the reader counts as suspended even then.
    public func suspend() async throws(ReaderError) {
        sleep.isSuspended = true
        sleep.count += 1
        sleep.interrupt?()
        try await uncancelled("suspend") { reader async throws(ReaderError) in
            guard !reader.handle.isRemoved else { throw ReaderError(.unplugged, operation: "suspend") }
            // Resumed while this waited its turn, or suspended twice.
            guard reader.sleep.isSuspended, !reader.sleep.isKnownToDriver else { return }
            try await reader.call("suspend", finish: fp_device_suspend_finish) { cancellable, reply in
                fp_device_suspend(reader.device, cancellable, readyCallback, reply)
            }
            reader.sleep.isKnownToDriver = true
        }
    }

    /// Wakes after the system's sleep (`fp_device_resume()`).
    ///
    /// Resuming a reader that is not suspended does nothing. It is not cancelled with its task.
    ///
    /// - Throws: `unplugged`; the reader counts as awake even then.
    public func resume() async throws(ReaderError) {
        try await uncancelled("resume") { reader async throws(ReaderError) in
            reader.sleep.isSuspended = false
            guard !reader.handle.isRemoved else { throw ReaderError(.unplugged, operation: "resume") }
            try await reader.tellDriverToWake()
        }
    }

    /// Ends libfprint's part of a suspension, if there is one.
    func tellDriverToWake() async throws(ReaderError) {
        guard sleep.isKnownToDriver else { return }
        sleep.isKnownToDriver = false
        try await call("resume", finish: fp_device_resume_finish) { cancellable, reply in
            fp_device_resume(device, cancellable, readyCallback, reply)
        }
    }

    /// For operations that are about to begin.
    ///
    /// - Throws: `suspended` between ``suspend()`` and ``resume()``.
    func requireAwake(_ operation: String) throws(ReaderError) {
        guard !sleep.isSuspended else { throw ReaderError(.suspended, operation: operation) }
    }

    /// For the match that an operation is about to return.
    ///
    /// - Throws: `suspended` when the reader was suspended since the operation began, at `count` suspensions.
    func requireNoSuspension(since count: Int, _ operation: String) throws(ReaderError) {
        guard sleep.count == count else {
            throw ReaderError(.suspended, operation: operation, cause: "the match came with the suspension")
        }
    }

    /// Runs an operation that ``suspend()`` may cancel, and names it when it did.
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
