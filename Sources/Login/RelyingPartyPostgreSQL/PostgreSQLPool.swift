// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import WhorlSupport

/// A few connections, each with a thread of its own, since libpq waits on the thread that calls it.
///
/// Tasks that ask wait in a line without a thread. A connection is made when it is first needed, and again when it was
/// lost.
final class PostgreSQLPool: Sendable {
    private let line: PostgreSQLLine
    private let size: Int

    /// Starts a thread for each of `size` connections; a task may wait in line, and what it asks for may take,
    /// `patience` seconds.
    init(url: String, size: Int, patience: Int) {
        self.size = max(1, size)
        line = PostgreSQLLine(patience: .seconds(patience))
        for _ in 0..<self.size {
            requireThread("whorl-login-pg") { [line] in
                var session = PostgreSQLSession(url: url, patience: patience)
                while let job = line.take() { job.run(&session) }
            }
        }
    }

    deinit { line.close(threads: size) }

    /// What is done on a connection: one statement or one transaction, or what may happen twice.
    typealias Body<Value> =
        @Sendable (inout PostgreSQLConnection) throws(PostgreSQLFailure) -> Value

    /// Runs `body` on a connection, to its end also where the task is cancelled.
    ///
    /// A server that does not answer in time is not asked again, and its connection is given up.
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
            line.append(
                PostgreSQLLine.Job(
                    run: { done.resume(returning: $0.perform(body, afterLoss)) },
                    refuse: { done.resume(returning: .failure($0)) }
                )
            )
        }.get()
    }

    /// Runs `body`, which changes nothing, or may happen twice: a challenge that was taken is unknown the second time.
    func performRepeatably<Value: Sendable>(
        _ body: @escaping Body<Value>
    ) async throws(RelyingPartyError) -> Value {
        try await perform(afterLoss: body, body)
    }
}
