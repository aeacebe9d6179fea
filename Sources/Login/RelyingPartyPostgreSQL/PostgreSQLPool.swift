// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import WhorlSupport

/// A pool of connections, each with a thread of its own, since libpq blocks the thread that calls it.
///
/// Tasks wait in a line without a thread. A connection is made when it is first needed, and again after it was lost.
final class PostgreSQLPool: Sendable {
    private let line: PostgreSQLLine
    private let size: Int

    /// Starts a thread for each of `size` connections; a task may wait in line for at most `patience` seconds, and its
    /// statements may take as long.
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

    /// The tasks that wait in line for a connection now.
    var waiting: StoreWait { line.waiting }

    /// The work on a connection: one statement or one transaction, or work that may be done twice.
    typealias Body<Value> =
        @Sendable (inout PostgreSQLConnection) throws(PostgreSQLFailure) -> Value

    /// Runs `body` on a connection, to its end even if the task is cancelled.
    ///
    /// If the server does not reply in time, the connection is given up and `body` does not run again. It runs again,
    /// once, if the connection was lost before any change could last, or if another transaction was in the way. If the
    /// reply to a lasting change is lost, `afterLoss` runs instead, and checks whether it took effect. Without it,
    /// throws `store`: a second run could report a change that was made as one that is impossible, or make it twice.
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

    /// Runs `body`, which changes nothing, or may run twice: a challenge that was taken is unknown the second time.
    func performRepeatably<Value: Sendable>(
        _ body: @escaping Body<Value>
    ) async throws(RelyingPartyError) -> Value {
        try await perform(afterLoss: body, body)
    }
}
