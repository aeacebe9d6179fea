// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import RelyingParty

/// The state of a thread of the pool: its connection, or none at the moment.
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
        // A connection that was cut while idle, as by a restart of the server, is replaced without an error.
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
