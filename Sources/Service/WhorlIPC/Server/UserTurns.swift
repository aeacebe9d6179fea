// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Lets few calls of each user run at a time; the user's others wait in their order.
///
/// A user has hundreds of connections, and what they ask for at once would fill the memory with values, and the queues that all
/// users share.
package final class UserTurns: Sendable {
    private struct Turns {
        var running = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let most: Int
    private let users = Mutex<[UInt32: Turns]>([:])

    /// Allows each user so many calls at a time.
    package init(most: Int) { self.most = most }

    /// Runs `body` when it is the call's turn.
    package func take<Value: Sendable>(
        _ user: PeerUser,
        _ body: () async throws(ServiceRefusal) -> Value
    ) async throws(ServiceRefusal) -> Value {
        await begin(user)
        defer { end(user) }
        return try await body()
    }

    /// Waits for the call's turn, which ends with ``end(_:)``.
    func begin(_ user: PeerUser) async {
        await withCheckedContinuation { (turn: CheckedContinuation<Void, Never>) in
            let isFree = users.withLock { users in
                var turns = users[user.uid] ?? Turns()
                defer { users[user.uid] = turns }
                guard turns.running >= most else {
                    turns.running += 1
                    return true
                }
                turns.waiting.append(turn)
                return false
            }
            if isFree { turn.resume() }
        }
    }

    /// Hands the turn to the next call.
    func end(_ user: PeerUser) {
        let next: CheckedContinuation<Void, Never>? = users.withLock { users in
            guard var turns = users[user.uid] else { return nil }
            defer { users[user.uid] = turns.running > 0 ? turns : nil }
            guard turns.waiting.isEmpty else { return turns.waiting.removeFirst() }
            turns.running -= 1
            return nil
        }
        next?.resume()
    }
}
