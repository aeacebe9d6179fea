// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Lets few calls of each user, or of whatever the key names, run at a time; the others wait in their order.
///
/// A user has hundreds of connections. Without turns, their calls could fill the memory, and the queues that all users share.
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

/// The turns of the calls of a server.
final class CallTurns: Sendable {
    /// The size from which on messages of a user are looked at and decoded one at a time, in bytes: that takes long enough that
    /// hundreds of them keep the threads from others' calls.
    static let largeMessage = 8 << 10

    let largeMessages = Turns<ShareOwner>(most: 1)
    let asking = Turns<ShareOwner>(most: 16)
    fileprivate let large = Turns<ShareOwner>(most: 1)
    fileprivate let largeOfAll = Turns<Bool>(most: 1)
}

/// The turns that the calls of one user wait for.
struct OwnersTurns: Sendable {
    /// The size of the memory files beside a call from which on one at a time is answered, in bytes.
    private static let largeFiles = 1 << 20

    let turns: CallTurns
    let owner: ShareOwner

    /// Runs `body` when no other call with large files does.
    ///
    /// - Parameters:
    ///   - bytes: The size of the files that the method takes.
    ///   - asksOwner: Whether somebody may be asked during the call: as long as that takes, it keeps back the same user's calls
    ///     alone.
    ///   - body: Reads the files, and answers.
    /// - Returns: The answer.
    /// - Throws: What `body` throws.
    func takeLarge<Value: Sendable>(
        bringing bytes: Int,
        asksOwner: Bool,
        _ body: () async throws(ServiceRefusal) -> Value
    ) async throws(ServiceRefusal) -> Value {
        guard bytes > Self.largeFiles else { return try await body() }
        return try await turns.large.take(owner) { () async throws(ServiceRefusal) in
            // Each user has one in the row of all users.
            asksOwner ? try await body() : try await turns.largeOfAll.take(true, body)
        }
    }
}
