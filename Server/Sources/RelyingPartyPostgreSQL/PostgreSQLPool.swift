// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
internal import RelyingParty
internal import Synchronization

/// A pool of connections, each with its own thread, because libpq blocks the calling thread.
///
/// Tasks wait in a queue without using a thread. A connection is opened when it is first needed, and again after it was
/// lost.
final class PostgreSQLPool: Sendable {
    private let line: PostgreSQLLine
    private let size: Int

    /// Starts a thread for each of `size` connections; a task waits in the queue for at most `patience` seconds, and
    /// its statements may take the same time.
    init(url: String, size: Int, patience: Int) {
        self.size = max(1, size)
        line = PostgreSQLLine(patience: .seconds(patience))
        for _ in 0..<self.size {
            let thread = Thread { [line] in
                var session = PostgreSQLSession(url: url, patience: patience)
                while let job = line.take() { job.run(&session) }
            }
            thread.name = "whorl-login-pg"
            thread.start()
        }
    }

    deinit { line.close(threads: size) }

    /// The tasks currently waiting for a connection.
    var waiting: StoreWait { line.waiting }

    /// The work on a connection: one statement or one transaction, or work that can safely be repeated.
    typealias Body<Value> =
        @Sendable (inout PostgreSQLConnection) throws(PostgreSQLFailure) -> Value

    /// Runs `body` on a connection, to its end even if the task is cancelled.
    ///
    /// If the server does not reply in time, the connection is dropped and `body` is not repeated. It is repeated once
    /// if the connection was lost before any change could last, or if another transaction was in the way.
    ///
    /// If the reply to a lasting change is lost, `afterLoss` runs instead, and checks whether the change took effect.
    /// Without it, throws `store`: repeating the change could report it as impossible although it was made, or make it
    /// twice.
    func perform<Value: Sendable>(
        afterLoss: Body<Value>? = nil,
        _ body: @escaping Body<Value>
    ) async throws(RelyingPartyError) -> Value {
        typealias Answer = Result<Value, RelyingPartyError>
        return try await withCheckedContinuation { (done: CheckedContinuation<Answer, Never>) in
            line.append(
                PostgreSQLLine.Job(
                    run: { done.resume(returning: $0.perform(body, afterLoss)) },
                    refuse: { done.resume(returning: .failure($0)) }
                )
            )
        }.get()
    }

    /// Runs `body`, which makes no changes or can safely run twice: a challenge that was used is unknown the second
    /// time.
    func performRepeatably<Value: Sendable>(
        _ body: @escaping Body<Value>
    ) async throws(RelyingPartyError) -> Value {
        try await perform(afterLoss: body, body)
    }
}

/// The state of a thread of the pool: its connection, if any.
struct PostgreSQLSession: ~Copyable {
    private let url: String
    private let patience: Int
    private var connection: PostgreSQLConnection?

    init(url: String, patience: Int) {
        self.url = url
        self.patience = patience
        connection = nil
    }

    mutating func perform<Value>(
        _ body: @escaping PostgreSQLPool.Body<Value>,
        _ afterLoss: PostgreSQLPool.Body<Value>?
    ) -> Result<Value, RelyingPartyError> {
        let again: PostgreSQLPool.Body<Value>
        do throws(PostgreSQLFailure) {
            return .success(try attempt(body))
        } catch {
            let next = error.isUndecided ? afterLoss : body
            guard let next, !error.isLate, error.isLost || error.isTransient else {
                return .failure(RelyingPartyError(error))
            }
            again = next
        }
        do throws(PostgreSQLFailure) {
            return .success(try attempt(again))
        } catch {
            return .failure(RelyingPartyError(error))
        }
    }

    private mutating func attempt<Value>(
        _ body: (inout PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) throws(PostgreSQLFailure) -> Value {
        // A connection that was closed while idle, for example by a restart of the server, is replaced without an
        // error.
        if connection?.isReady == false { connection = nil }
        if connection == nil { connection = try .open(url: url, patience: patience) }
        do throws(PostgreSQLFailure) {
            connection?.mayTake(patience)
            guard let value = try connection?.run(body) else {
                throw PostgreSQLFailure(state: "", text: "no connection")
            }
            return value
        } catch {
            if error.isLost { connection = nil }
            throw error
        }
    }
}

extension PostgreSQLConnection {
    /// Runs `body` on this connection.
    fileprivate mutating func run<Value>(
        _ body: (inout PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) throws(PostgreSQLFailure) -> Value { try body(&self) }
}

extension RelyingPartyError {
    init(_ failure: PostgreSQLFailure) {
        let cause = "PostgreSQL: " + failure.text.trimmingCharacters(in: .whitespacesAndNewlines)
        self.init(.store, cause: failure.isUndecided ? cause + "; it may have been done" : cause)
    }
}

/// A queue of jobs waiting for a connection, in order of arrival, without a thread.
///
/// No job waits longer than the queue's patience, even if all connections are stuck.
final class PostgreSQLLine: Sendable {
    /// The maximum number of waiting jobs; further jobs are refused immediately, because the database is too slow.
    private static let longest = 4_096

    /// A job for a connection, which is notified if it gets none.
    struct Job: Sendable {
        let since = ContinuousClock.now
        let run: @Sendable (inout PostgreSQLSession) -> Void
        let refuse: @Sendable (RelyingPartyError) -> Void
    }

    private struct State {
        /// The jobs: those from `next` on are waiting, earlier ones are finished.
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
    /// The semaphore that counts arrived jobs, some of which may be refused before a thread takes them.
    private let ready = DispatchSemaphore(value: 0)
    /// Detects when a job has waited too long, without using a thread of Swift's tasks, which may all be busy.
    private static let timers = DispatchQueue(label: "whorl-login-pg-timers")

    init(patience: Duration) { self.patience = patience }

    /// The currently waiting jobs.
    var waiting: StoreWait {
        state.withLock { state in
            guard let first = state.first else { return StoreWait() }
            return StoreWait(operations: state.count, longest: .now - first.since)
        }
    }

    /// Appends a job, or refuses it if the queue is too long.
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

    /// Waits for a job; returns `nil` if the queue is closed and empty.
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

    /// Ends each of `threads` once the queue is empty.
    func close(threads: Int) {
        state.withLock { $0.isClosed = true }
        for _ in 0..<threads { ready.signal() }
    }

    private func isLate(_ job: Job, at now: ContinuousClock.Instant) -> Bool { now - job.since >= patience }

    /// Refuses the jobs that have waited too long, as long as jobs are waiting.
    private func refuseLate(from time: ContinuousClock.Instant) {
        let milliseconds = Int((max(.zero, time - .now) / Duration.milliseconds(1)).rounded(.up))
        Self.timers.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [self] in
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
