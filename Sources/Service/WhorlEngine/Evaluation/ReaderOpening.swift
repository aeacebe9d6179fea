// SPDX-License-Identifier: Apache-2.0

import WhorlStateStore
import Synchronization
import WhorlFingerprint
import WhorlService
import WhorlSupport

extension AuthenticationEngine {
    /// Opens a reader and runs a scan.
    ///
    /// Before that, waits for requests that use the same attempts, and for the reader, which an enrollment in this
    /// process may be using.
    ///
    /// - Parameters:
    ///   - reader: The reader, which is closed.
    ///   - bookkeeping: The records of the request; other requests must not use the same attempts in the meantime.
    ///   - wait: The maximum time to wait for other requests, and again for the reader.
    ///   - afterwards: Work to do after the answer; the next request waits for it.
    ///   - scan: Called while the reader is open. Its argument returns whether a touch at this moment must have been
    ///     meant for an earlier prompt.
    /// - Returns: The value that the scan returned. The function does not wait until the reader is closed; the next
    ///   operation on the reader does.
    /// - Throws: `readerInUse` if the wait was too long, or the errors of the reader and of the scan.
    func withReader<Value>(
        _ reader: any FingerprintReader,
        _ bookkeeping: EvaluationBookkeeping,
        within wait: Duration,
        afterwards: @escaping @Sendable () async -> Void = {},
        _ scan: (_ isTooEarly: @escaping @Sendable () -> Bool) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> Value {
        let path = EvaluationLock.path(in: bookkeeping.database.directory, profile: bookkeeping.profile)
        let lock = try await EvaluationLock.acquire(path, within: wait)
        let turn: ReaderTurn
        do throws(ReaderError) {
            turn = try await ReaderOpening.open(reader, waiting: wait)
        } catch {
            throw ServiceError(duringScan: error)
        }
        defer { ReaderClosing.begin(reader, holding: [lock, turn], besides: afterwards) }
        // A script reacts immediately, and its touches are meant for this prompt.
        let isAfterAnother = turn.hasWaited || lock.hasWaited
        guard isAfterAnother, await reader.info.kind != .mock else { return try await scan { false } }
        let begin = time.now()
        return try await scan { [time] in time.now().certainlyAfter(begin) < TouchSource.reaction }
    }
}

/// Opens a reader within a time limit, even if the driver never returns.
///
/// The evaluation holds the profile's lock during this time, so all other programs that use the profile wait as well.
final class ReaderOpening: Sendable {
    /// The maximum time for a driver to open its reader.
    static let longest = Duration.seconds(30)
    /// The time within which a driver must return after the limit or a cancellation.
    static let grace = Duration.seconds(1)

    private enum State {
        case waiting(CheckedContinuation<Outcome, Never>)
        case ended
    }
    private typealias Outcome = Result<ReaderTurn, ReaderError>

    private let reader: any FingerprintReader
    private let state = Mutex<State?>(nil)
    /// The error to throw when the time limit expires, which depends on what is being waited for.
    private let lateness: Mutex<ReaderError>
    private let work = Mutex<Task<Void, Never>?>(nil)
    /// The reason why the work was cancelled.
    private let reason = Mutex<ReaderError?>(nil)

    private init(_ reader: any FingerprintReader) {
        self.reader = reader
        lateness = Mutex(
            ReaderError(.inUse, operation: "open", cause: "another operation of this program is running")
        )
    }

    /// Waits for the turn to use the reader, and opens it.
    ///
    /// A driver that does not return keeps the turn. If it returns later, the reader is closed again.
    ///
    /// - Parameters:
    ///   - reader: The reader, which another operation in this process may be using.
    ///   - wait: The maximum time to wait for that operation.
    ///   - limit: The maximum time for opening the reader.
    /// - Returns: The turn, with the reader open.
    /// - Throws: `inUse` after `wait`, `malfunction` after `limit`, `cancelled` if the task was cancelled, or the
    ///   driver's error.
    static func open(
        _ reader: any FingerprintReader,
        waiting wait: Duration,
        limit: Duration = longest
    ) async throws(ReaderError) -> ReaderTurn {
        let opening = ReaderOpening(reader)
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { opening.begin($0, wait, limit) }
        } onCancel: {
            opening.stop(ReaderError(.cancelled, operation: "open"))
        }.get()
    }

    private func begin(_ waiter: CheckedContinuation<Outcome, Never>, _ wait: Duration, _ limit: Duration) {
        state.withLock { $0 = .waiting(waiter) }
        let turnTimer = OffPoolTimer(wait)
        turnTimer.onEnd { [self] in stop() }
        // Uses the caller's executor, because the pool may have no free thread.
        let task = Task.immediate(executorPreference: currentExecutor) { [self] in
            let outcome = await opened(turnTimer, limit)
            if !end(outcome), case .success(let turn) = outcome {
                ReaderClosing.begin(reader, holding: [turn])
            }
        }
        work.withLock { $0 = task }
        if Task.isCancelled { stop(ReaderError(.cancelled, operation: "open")) }
    }

    private func opened(_ turnTimer: OffPoolTimer, _ limit: Duration) async -> Outcome {
        do throws(ReaderError) {
            let turn = try await ReaderTurns.take("evaluate", on: reader)
            turnTimer.cancel()
            lateness.withLock {
                $0 = ReaderError(.malfunction, operation: "open", cause: "the reader did not answer in time")
            }
            let timer = OffPoolTimer(limit)
            timer.onEnd { [self] in stop() }
            defer { timer.cancel() }
            try await reader.open()
            return .success(turn)
        } catch {
            turnTimer.cancel()
            return .failure(error.code == .cancelled ? reason.withLock { $0 ?? error } : error)
        }
    }

    /// Cancels the work, and abandons it if it does not end in time.
    private func stop(_ error: ReaderError? = nil) {
        let late = lateness.withLock(\.self)
        let error = reason.withLock { reason in
            reason = reason ?? error ?? late
            return reason ?? late
        }
        work.withLock { $0?.cancel() }
        OffPoolTimer.run(after: ReaderOpening.grace) { [self] in _ = end(.failure(error)) }
    }

    /// Passes the outcome to the waiter; returns `false` if the waiter already has one.
    private func end(_ outcome: Outcome) -> Bool {
        let waiter = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard case .waiting(let waiter)? = state else { return nil }
            state = .ended
            return waiter
        }
        waiter?.resume(returning: outcome)
        return waiter != nil
    }
}
