// SPDX-License-Identifier: Apache-2.0

internal import CWhorlFprint
internal import CWhorlGLib
internal import WhorlFingerprint
internal import WhorlGLib

extension LibfprintReader {
    /// Runs an operation exclusively if the reader is open and supports it.
    func whenOpen<Value: Sendable>(
        _ operation: String,
        needing feature: ReaderFeatures = [],
        _ policy: BusyPolicy,
        _ body: () async throws(ReaderError) -> Value
    ) async throws(ReaderError) -> Value {
        try await gate.run(operation, whenBusy: policy) { () async throws(ReaderError) in
            guard fp_device_is_open(device) != 0 else { throw ReaderError(.notOpen, operation: operation) }
            // A virtual driver whose reader was removed would wait forever.
            guard !handle.isRemoved else { throw ReaderError(.unplugged, operation: operation) }
            try requireAwake(operation)
            // libfprint reports success when deleting from a reader that does not support it.
            guard ReaderFeatures(fp_device_get_features(device)).isSuperset(of: feature) else {
                throw ReaderError(.unsupported, operation: operation)
            }
            return try await body()
        }
    }
}

extension LibfprintReader {
    /// Waits for its turn and runs to the end, even if the caller's task is cancelled.
    ///
    /// This is intended for operations that must not be left half done. It does not need a thread from Swift's shared
    /// pool, which may be blocked completely.
    func uncancelled(
        _ operation: String,
        _ body: @escaping @Sendable (isolated LibfprintReader) async throws(ReaderError) -> Void
    ) async throws(ReaderError) {
        let work = Task(executorPreference: GLibTaskExecutor.shared) {
            await self.inTurn(operation, body)
        }
        if let error = await work.value { throw error }
    }

    /// Runs `body` when its turn comes, and returns its error.
    private func inTurn(
        _ operation: String,
        _ body: (isolated LibfprintReader) async throws(ReaderError) -> Void
    ) async -> ReaderError? {
        do throws(ReaderError) {
            try await gate.run(operation, whenBusy: .wait) { () async throws(ReaderError) in
                try await body(self)
            }
            return nil
        } catch {
            return error
        }
    }
}

extension LibfprintReader {
    /// The `…_finish()` function of a call that either succeeds or fails, without a value.
    typealias Finish = (
        UnsafeMutablePointer<FpDevice>?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?
    ) -> gboolean

    /// A function that returns the value of a call from its `…_finish()` function, or `nil` if that function has set
    /// the error.
    typealias FinishWithValue<Value> = (
        UnsafeMutablePointer<FpDevice>, OpaquePointer, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>
    ) throws(ReaderError) -> Value?

    /// Makes a call that has no result and never requests a retry.
    func call(
        _ operation: String,
        finish: @escaping Finish,
        start: (UnsafeMutablePointer<GCancellable>, UnsafeMutableRawPointer) -> Void
    ) async throws(ReaderError) {
        try await call(operation, finish: { finish($0, $1, $2) != 0 ? () : nil }, start: start)
    }

    /// Makes a call that returns one value and never requests a retry.
    func call<Value: Sendable>(
        _ operation: String,
        finish: @escaping FinishWithValue<Value>,
        start: (UnsafeMutablePointer<GCancellable>, UnsafeMutableRawPointer) -> Void
    ) async throws(ReaderError) -> Value {
        switch try await attempt(operation, finish: finish, start: start) {
        case .value(let value): return value
        case .retry(let reason): throw CallFailure.retry(reason).asError
        }
    }

    /// Makes a call that returns a value, a retry, or an error.
    func attempt<Value: Sendable>(
        _ operation: String,
        finish: @escaping FinishWithValue<Value>,
        start: (UnsafeMutablePointer<GCancellable>, UnsafeMutableRawPointer) -> Void
    ) async throws(ReaderError) -> Attempt<Value> {
        let cancellable = Cancellable()
        let handle = handle
        if scan != nil { sleep.interrupt = cancellable.trigger }
        defer { sleep.interrupt = nil }
        return try await bridge(cancellable) { (result) -> Result<Attempt<Value>, ReaderError> in
            var error: UnsafeMutablePointer<GError>?
            do throws(ReaderError) {
                if let value = try finish(handle.pointer, result, &error) {
                    g_clear_error(&error)
                    return .success(.value(value))
                }
            } catch {
                return .failure(error)
            }
            guard let failure = GErrorText(taking: error) else {
                let cause = "neither a result nor an error"
                return .failure(ReaderError(.malfunction, operation: operation, cause: cause))
            }
            switch CallFailure(failure, operation: operation) {
            case .retry(let reason): return .success(.retry(reason))
            case .error(let error): return .failure(error)
            }
        } start: { reply in
            start(cancellable.pointer, reply.userData)
        }
    }
}

/// The result of a call that did not fail.
enum Attempt<Value: Sendable>: Sendable {
    case value(Value)
    case retry(ScanRetry)
}
