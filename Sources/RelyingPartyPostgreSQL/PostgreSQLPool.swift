// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
internal import RelyingParty
internal import Synchronization

/// A few connections, each with a thread of its own, since libpq waits on the thread that calls it.
///
/// Tasks that ask wait in a line without a thread. A connection is made when it is first needed, and again when it was
/// lost.
final class PostgreSQLPool: Sendable {
    typealias Failure = RelyingPartyError
    /// How many may wait; more than that many are told at once that the database is too slow.
    private static let longestLine = 4_096

    /// What is to be done on a connection, or to be told where there is none to be had.
    private struct Job: Sendable {
        let since = ContinuousClock.now
        let run: @Sendable (inout PostgreSQLSession) -> Void
        let refuse: @Sendable (RelyingPartyError) -> Void
    }

    /// What the threads share with the pool, and outlives it for as long as they need.
    private final class Line: Sendable {
        private struct State {
            /// Jobs from `next` on wait; those before are gone.
            var jobs: [Job] = []
            var next = 0
        }

        private let state = Mutex(State())
        private let ready = DispatchSemaphore(value: 0)

        /// `false` where the line is too long.
        func append(_ job: Job) -> Bool {
            let isTaken = state.withLock {
                guard $0.jobs.count - $0.next < PostgreSQLPool.longestLine else { return false }
                $0.jobs.append(job)
                return true
            }
            if isTaken { ready.signal() }
            return isTaken
        }

        /// Waits for a job; `nil` when the pool is gone and nothing is left to do.
        func take() -> Job? {
            ready.wait()
            return state.withLock {
                guard $0.next < $0.jobs.count else { return nil }
                let job = $0.jobs[$0.next]
                $0.next += 1
                if $0.next == $0.jobs.count {
                    $0.jobs = []
                    $0.next = 0
                } else if $0.next >= 1_024 {
                    $0.jobs.removeFirst($0.next)
                    $0.next = 0
                }
                return job
            }
        }

        /// Lets each of `threads` end once the line is empty.
        func close(threads: Int) { for _ in 0..<threads { ready.signal() } }
    }

    private let line = Line()
    private let size: Int

    /// Starts a thread for each of `size` connections; a task may wait in line, and a statement may take, `patience`
    /// seconds.
    init(url: String, size: Int, patience: Int) {
        self.size = max(1, size)
        for _ in 0..<self.size {
            let thread = Thread { [line] in
                var session = PostgreSQLSession(url: url, patience: patience)
                while let job = line.take() {
                    if ContinuousClock.now - job.since > .seconds(patience) {
                        job.refuse(Failure(.store, cause: "PostgreSQL: all connections are busy"))
                    } else {
                        job.run(&session)
                    }
                }
            }
            thread.name = "whorl-login-pg"
            thread.start()
        }
    }

    deinit { line.close(threads: size) }

    /// What is done on a connection: one statement or one transaction, or what may happen twice.
    typealias Body<Value> =
        @Sendable (inout PostgreSQLConnection) throws(PostgreSQLFailure) -> Value

    /// Runs `body` on a connection, to its end also where the task is cancelled.
    ///
    /// It runs again, once, where the connection was lost before anything could last, or another transaction was in the
    /// way. Where the answer to what lasts is lost, `afterLoss` runs instead, which finds out; without one nobody knows,
    /// and the caller is told `store`: a second time would tell what has happened as what cannot, or write it down
    /// twice.
    func perform<Value: Sendable>(
        afterLoss: Body<Value>? = nil,
        _ body: @escaping Body<Value>
    ) async throws(RelyingPartyError) -> Value {
        typealias Answer = Result<Value, RelyingPartyError>
        return try await withCheckedContinuation { (done: CheckedContinuation<Answer, Never>) in
            let job = Job(
                run: { done.resume(returning: $0.perform(body, afterLoss)) },
                refuse: { done.resume(returning: .failure($0)) }
            )
            if !line.append(job) {
                done.resume(returning: .failure(Failure(.store, cause: "PostgreSQL: too many are waiting")))
            }
        }.get()
    }

    /// Runs `body`, which changes nothing, or may happen twice: a challenge that was taken is unknown the second time.
    func performRepeatably<Value: Sendable>(
        _ body: @escaping Body<Value>
    ) async throws(RelyingPartyError) -> Value {
        try await perform(afterLoss: body, body)
    }
}

/// What a thread of the pool has: its connection, or none at the moment.
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
            guard let next, error.isLost || error.isTransient else {
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
        // One that was cut while nobody used it, as where the server was started anew, is no loss.
        if connection?.isSilent == false { connection = nil }
        if connection == nil { connection = try .open(url: url, patience: patience) }
        do throws(PostgreSQLFailure) {
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
    /// `body`, on this connection.
    fileprivate mutating func run<Value>(
        _ body: (inout PostgreSQLConnection) throws(PostgreSQLFailure) -> Value
    ) throws(PostgreSQLFailure) -> Value { try body(&self) }
}

extension RelyingPartyError {
    init(_ failure: PostgreSQLFailure) {
        self.init(
            .store,
            cause: "PostgreSQL: " + failure.text.trimmingCharacters(in: .whitespacesAndNewlines)
        )
    }
}
