// SPDX-License-Identifier: Apache-2.0

import Synchronization
import WhorlIPC

/// Lets few calls of each user run at a time; the user's others wait in their order.
///
/// A user has hundreds of connections, and what they ask for at once would fill the memory with values, and the queues that all
/// users share.
final class UserTurns: Sendable {
    private struct Turns {
        var running = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let most: Int
    private let users = Mutex<[UInt32: Turns]>([:])

    /// Allows each user so many calls at a time.
    init(most: Int) { self.most = most }

    /// Runs `body` when it is the call's turn.
    func take<Value: Sendable>(
        _ user: PeerUser,
        _ body: () async throws(ServiceRefusal) -> Value
    ) async throws(ServiceRefusal) -> Value {
        await begin(user.uid)
        defer { end(user.uid) }
        return try await body()
    }

    private func begin(_ uid: UInt32) async {
        await withCheckedContinuation { (turn: CheckedContinuation<Void, Never>) in
            let isFree = users.withLock { users in
                var turns = users[uid] ?? Turns()
                defer { users[uid] = turns }
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
    private func end(_ uid: UInt32) {
        let next: CheckedContinuation<Void, Never>? = users.withLock { users in
            guard var turns = users[uid] else { return nil }
            defer { users[uid] = turns.running > 0 ? turns : nil }
            guard turns.waiting.isEmpty else { return turns.waiting.removeFirst() }
            turns.running -= 1
            return nil
        }
        next?.resume()
    }
}
