// SPDX-License-Identifier: Apache-2.0

import Fingerprint
import Synchronization
import WhorlSupport

/// The two limits of every operation that waits for a finger: how long one presentation is waited for, and how
/// many in a row may be unreadable.
///
/// Whoever reaches one has the operation cancelled; the reader then ends it as it ends every cancelled one.
final class ScanLimits: Sendable {
    /// Why an operation was ended.
    enum Stop: Sendable {
        case timedOut
        case tooManyRetries

        var error: EnrollmentError {
            switch self {
            case .timedOut: EnrollmentError(.timedOut)
            case .tooManyRetries: EnrollmentError(.tooManyRetries)
            }
        }
    }

    /// How an operation went.
    ///
    /// Both can be there: it may have succeeded just before it was told to end.
    struct Outcome<Value: Sendable>: Sendable {
        let stop: Stop?
        let result: Result<Value, ReaderError>

        /// The value, where the limits were kept.
        func get() throws(EnrollmentError) -> Value {
            if let stop { throw stop.error }
            do {
                return try result.get()
            } catch {
                throw EnrollmentError(.reader(error))
            }
        }
    }

    private struct State {
        var waitingSince: ContinuousClock.Instant
        var retriesInARow = 0
    }

    private let timeout: Duration
    private let retryLimit: Int
    private let state: Mutex<State>

    init(timeout: Duration, retryLimit: Int) {
        self.timeout = timeout
        self.retryLimit = retryLimit
        self.state = Mutex(State(waitingSince: .now))
    }

    /// Whether there was one unreadable presentation too many.
    func countRetry() -> Bool {
        state.withLock { state in
            state.retriesInARow += 1
            return state.retriesInARow > retryLimit
        }
    }

    /// A presentation could be read.
    func countGood() { state.withLock { $0.retriesInARow = 0 } }

    /// Runs one operation of a reader within the limits.
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

    /// Waits until the operation itself has ended, whatever else came first.
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

    /// A finger that comes and goes does not prolong the time; what the reader makes of it does.
    private func isOverLimit(_ event: ScanEvent) -> Bool {
        switch event {
        case .touch: restartWaiting()
        case .finger: break
        case .retry:
            restartWaiting()
            return countRetry()
        case .stage:
            restartWaiting()
            countGood()
        }
        return false
    }

    /// Waits for the time limit; `false` when the operation ended first.
    private func timeIsUp() async -> Bool {
        while true {
            let end = state.withLock { $0.waitingSince } + timeout
            if ContinuousClock.now >= end { return true }
            guard await OffPoolTimer.wait(end - .now) else { return false }
        }
    }
}
