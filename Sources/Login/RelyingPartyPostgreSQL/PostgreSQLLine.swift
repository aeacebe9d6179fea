// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import RelyingParty
internal import Synchronization
internal import WhorlSupport

/// A queue of jobs that wait for a connection, in the order of arrival, without a thread.
///
/// No job waits longer than the line's patience, even if all connections are stuck.
final class PostgreSQLLine: Sendable {
    /// The maximum number of jobs that wait; further jobs are refused at once since the database is too slow.
    private static let longest = 4_096

    /// A job for a connection, which is told if it gets none.
    struct Job: Sendable {
        let since = ContinuousClock.now
        let run: @Sendable (inout PostgreSQLSession) -> Void
        let refuse: @Sendable (RelyingPartyError) -> Void
    }

    private struct State {
        /// The jobs: those from `next` on wait, those before are gone.
        private var jobs: [Job] = []
        private var next = 0
        /// Whether a check for jobs that have waited too long is scheduled.
        var isWatched = false
        var isClosed = false

        var count: Int { jobs.count - next }
        var first: Job? { next < jobs.count ? jobs[next] : nil }

        mutating func append(_ job: Job) { jobs.append(job) }

        mutating func removeFirst() -> Job? {
            guard let job = first else { return nil }
            next += 1
            if next == jobs.count || next >= 1_024 {
                jobs.removeFirst(next)
                next = 0
            }
            return job
        }
    }

    private let patience: Duration
    private let state = Mutex(State())
    /// The semaphore that counts arrived jobs; some of them may be refused before a thread takes them.
    private let ready = DispatchSemaphore(value: 0)

    init(patience: Duration) { self.patience = patience }

    /// The jobs that wait now.
    var waiting: StoreWait {
        state.withLock { state in
            guard let first = state.first else { return StoreWait() }
            return StoreWait(operations: state.count, longest: .now - first.since)
        }
    }

    /// Puts a job at the end; refuses it if the line is too long.
    func append(_ job: Job) {
        let isFirst: Bool? = state.withLock { state in
            guard state.count < Self.longest else { return nil }
            state.append(job)
            defer { state.isWatched = true }
            return !state.isWatched
        }
        guard let isFirst else { return job.refuse(Self.refusal("too many are waiting")) }
        ready.signal()
        if isFirst { refuseLate(from: job.since + patience) }
    }

    /// Waits for a job; returns `nil` when the line is closed and no job is left.
    func take() -> Job? {
        while true {
            ready.wait()
            let (job, isClosed) = state.withLock { ($0.removeFirst(), $0.isClosed) }
            guard let job else {
                if isClosed { return nil }
                continue
            }
            guard isLate(job, at: .now) else { return job }
            job.refuse(Self.refusal("all connections are busy"))
        }
    }

    /// Lets each of `threads` end once the line is empty.
    func close(threads: Int) {
        state.withLock { $0.isClosed = true }
        for _ in 0..<threads { ready.signal() }
    }

    private func isLate(_ job: Job, at now: ContinuousClock.Instant) -> Bool { now - job.since >= patience }

    /// Refuses the jobs that have waited too long, as long as jobs wait.
    private func refuseLate(from time: ContinuousClock.Instant) {
        OffPoolTimer.run(after: max(.zero, time - .now)) { [self] in
            let now = ContinuousClock.now
            let (late, first) = state.withLock { state in
                var late: [Job] = []
                while let job = state.first, isLate(job, at: now) {
                    _ = state.removeFirst()
                    late.append(job)
                }
                state.isWatched = state.first != nil
                return (late, state.first)
            }
            for job in late { job.refuse(Self.refusal("all connections are busy")) }
            if let first { refuseLate(from: first.since + patience) }
        }
    }

    private static func refusal(_ why: String) -> RelyingPartyError {
        RelyingPartyError(.store, cause: "PostgreSQL: \(why)")
    }
}
