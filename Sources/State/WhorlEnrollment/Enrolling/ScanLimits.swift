// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Synchronization
import WhorlService
import WhorlSupport

/// The two limits for every operation that waits for a finger.
///
/// These are the time limit for one scan and the number of consecutive scans that may be unreadable. When a limit has
/// been exceeded, the operation is cancelled, and the reader ends it like any other cancelled operation.
final class ScanLimits: Sendable {
    /// The reason why an operation was stopped.
    enum Stop: Sendable {
        case timedOut
        case tooManyRetries

        var error: ServiceError {
            switch self {
            case .timedOut: ServiceError(.timedOut)
            case .tooManyRetries: ServiceError(.tooManyRetries)
            }
        }
    }

    /// The outcome of an operation.
    ///
    /// It can contain both a stop and a result, because the operation may have succeeded just before it was cancelled.
    struct Outcome<Value: Sendable>: Sendable {
        let stop: Stop?
        let result: Result<Value, ReaderError>

        /// Returns the value if no limit was exceeded.
        func get() throws(ServiceError) -> Value {
            if let stop { throw stop.error }
            return try result.mapError { ServiceError($0) }.get()
        }
    }

    private struct State {
        var waitingSince: ContinuousClock.Instant
        var retriesInARow = 0
    }

    let timeout: Duration
    let retryLimit: Int
    private let state: Mutex<State>

    init(timeout: Duration, retryLimit: Int) {
        self.timeout = timeout
        self.retryLimit = retryLimit
        self.state = Mutex(State(waitingSince: .now))
    }

    /// Counts an unreadable scan and returns whether the limit has been exceeded.
    func countRetry() -> Bool {
        state.withLock { state in
            state.retriesInARow += 1
            return state.retriesInARow > retryLimit
        }
    }

    /// Records that a scan could be read.
    func countGood() { state.withLock { $0.retriesInARow = 0 } }

    /// Runs one reader operation within the limits.
    func run<Value: Sendable>(
        observer: @escaping ScanObserver,
        _ operation: @escaping @Sendable (@escaping ScanObserver) async throws(ReaderError) -> Value
    ) async -> Outcome<Value> {
        restartWaiting()
        let (stops, stopping) = AsyncStream.makeStream(of: Stop.self)
        let watching: ScanObserver = { event in
            if self.isOverLimit(event) { stopping.yield(.tooManyRetries) }
            observer(event)
        }
        return await withTaskGroup(of: Step<Value>.self) { group in
            group.addTask {
                .ended(await ScanLimits.result { () throws(ReaderError) in try await operation(watching) })
            }
            group.addTask {
                for await stop in stops { return .stop(stop) }
                return .quiet
            }
            group.addTask { await self.timeIsUp() ? .stop(.timedOut) : .quiet }
            return await ScanLimits.outcome(of: &group)
        }
    }

    private enum Step<Value: Sendable>: Sendable {
        case ended(Result<Value, ReaderError>)
        case stop(Stop)
        case quiet
    }

    /// Waits until the operation itself has ended, even if a limit was exceeded first.
    private static func outcome<Value>(of group: inout TaskGroup<Step<Value>>) async -> Outcome<Value> {
        var stop: Stop?
        while let step = await group.next() {
            switch step {
            case .ended(let result):
                group.cancelAll()
                return Outcome(stop: stop, result: result)
            case .stop(let reason):
                stop = stop ?? reason
                group.cancelAll()
            case .quiet: continue
            }
        }
        preconditionFailure("the operation's task always gives its end")
    }

    private static func result<Value>(
        _ body: () async throws(ReaderError) -> Value
    ) async -> Result<Value, ReaderError> {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }

    private func restartWaiting() { state.withLock { $0.waitingSince = .now } }

    /// Applies an event and returns whether a limit has been exceeded.
    ///
    /// A touch, retry or stage event restarts the time limit. Events during a scan do not.
    private func isOverLimit(_ event: ScanEvent) -> Bool {
        switch event {
        case .touch: restartWaiting()
        case .finger, .alike: break
        case .retry:
            restartWaiting()
            return countRetry()
        case .stage:
            restartWaiting()
            countGood()
        }
        return false
    }

    /// Waits for the time limit, and returns `false` if the operation ended first.
    private func timeIsUp() async -> Bool {
        while true {
            let end = state.withLock { $0.waitingSince } + timeout
            if ContinuousClock.now >= end { return true }
            guard await OffPoolTimer.wait(end - .now) else { return false }
        }
    }
}
