// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Lets few calls of each user, or of whatever the key names, run at a time; the others wait in their order.
///
/// A user has hundreds of connections, and what they ask for at once would fill the memory with values, and the queues that all
/// users share.
package final class Turns<Key: Hashable & Sendable>: Sendable {
    private struct Calls {
        var running = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let most: Int
    private let calls = Mutex<[Key: Calls]>([:])

    /// Allows so many calls at a time for each key.
    package init(most: Int) { self.most = most }

    /// Runs `body` when it is the call's turn.
    package func take<Value: Sendable, Failure: Error>(
        _ key: Key,
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await begin(key)
        defer { end(key) }
        return try await body()
    }

    /// Waits for the call's turn, which ends with ``end(_:)``.
    func begin(_ key: Key) async {
        await withCheckedContinuation { (turn: CheckedContinuation<Void, Never>) in
            let isFree = calls.withLock { all in
                var calls = all[key] ?? Calls()
                defer { all[key] = calls }
                guard calls.running >= most else {
                    calls.running += 1
                    return true
                }
                calls.waiting.append(turn)
                return false
            }
            if isFree { turn.resume() }
        }
    }

    /// Hands the turn to the next call.
    func end(_ key: Key) {
        let next: CheckedContinuation<Void, Never>? = calls.withLock { all in
            guard var calls = all[key] else { return nil }
            defer { all[key] = calls.running > 0 ? calls : nil }
            guard calls.waiting.isEmpty else { return calls.waiting.removeFirst() }
            calls.running -= 1
            return nil
        }
        next?.resume()
    }
}

/// The turns that the calls of a server wait for before their parameters are read.
final class CallTurns: Sendable {
    /// The size from which on messages of a user are looked at and decoded one at a time, in bytes: that takes long enough that
    /// hundreds of them keep the threads from others' calls.
    static let largeMessage = 8 << 10
    /// The size of the memory files beside a call from which on one at a time is answered, in bytes.
    private static let largeFiles = 1 << 20

    let largeMessages = Turns<ShareOwner>(most: 1)
    private let asking = Turns<ShareOwner>(most: 16)
    private let large = Turns<ShareOwner>(most: 1)
    private let largeOfAll = Turns<Bool>(most: 1)

    /// Answers a call when it is its turn.
    ///
    /// - Parameters:
    ///   - owner: Whose call it is.
    ///   - bytes: The size of the files beside it.
    ///   - asksOwner: Whether somebody may be asked during the call, who takes as long as they like.
    ///   - answer: Answers it.
    /// - Returns: The answer.
    func take<Value: Sendable>(
        _ owner: ShareOwner,
        bringing bytes: Int,
        asksOwner: Bool,
        _ answer: () async -> Value
    ) async -> Value {
        let isLarge = bytes > Self.largeFiles
        switch (asksOwner, isLarge) {
        case (false, false): return await answer()
        case (true, false): return await asking.take(owner, answer)
        case (true, true): return await asking.take(owner) { await large.take(owner, answer) }
        // Each user has one in the row of all users.
        case (false, true): return await large.take(owner) { await largeOfAll.take(true, answer) }
        }
    }
}
