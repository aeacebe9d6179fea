// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Limits the number of concurrent calls for each key, such as a user; further calls wait in order.
///
/// A user can have hundreds of connections. Without turns, their calls could fill the memory and the queues that all
/// users share.
package final class Turns<Key: Hashable & Sendable>: Sendable {
    private struct Waiting {
        let size: Int
        let turn: CheckedContinuation<Void, Never>
    }

    private struct Calls {
        /// The total size of the calls in progress.
        var running = 0
        var waiting: [Waiting] = []

        /// Admits and returns the first waiting calls that fit within the limit.
        mutating func admit(most: Int) -> [Waiting] {
            var admitted: ArraySlice<Waiting> = []
            for next in waiting {
                guard running == 0 || running + next.size <= most else { break }
                running += next.size
                admitted.append(next)
            }
            waiting.removeFirst(admitted.count)
            return Array(admitted)
        }
    }

    private let most: Int
    private let calls = Mutex<[Key: Calls]>([:])

    /// Creates turns that allow a number of concurrent calls for each key, or calls of this total size.
    package init(most: Int) { self.most = most }

    /// Runs `body` when it is the call's turn.
    ///
    /// - Parameters:
    ///   - key: The key to which the call belongs.
    ///   - size: The size of the call, which is at least 1. A call that exceeds the allowed total runs alone.
    ///   - body: The call.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`.
    package func take<Value: Sendable, Failure: Error>(
        _ key: Key,
        size: Int = 1,
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await begin(key, size: size)
        defer { end(key, size: size) }
        return try await body()
    }

    /// Waits for the call's turn, which lasts until ``end(_:size:)``.
    func begin(_ key: Key, size: Int = 1) async {
        await withCheckedContinuation { (turn: CheckedContinuation<Void, Never>) in
            change(key) { $0.waiting.append(Waiting(size: size, turn: turn)) }
        }
    }

    /// Ends a call's turn, and admits the next calls.
    func end(_ key: Key, size: Int = 1) { change(key) { $0.running -= size } }

    private func change(_ key: Key, _ change: (inout Calls) -> Void) {
        let admitted = calls.withLock { all in
            var calls = all[key] ?? Calls()
            defer { all[key] = calls.running > 0 ? calls : nil }
            change(&calls)
            return calls.admit(most: most)
        }
        for next in admitted { next.turn.resume() }
    }
}

/// The turns in which a server's calls run.
final class CallTurns: Sendable {
    /// The size, in bytes, from which a user's messages are checked and decoded one at a time.
    ///
    /// Checking and decoding takes so long that hundreds of such messages would occupy the threads that other users'
    /// calls need.
    static let largeMessage = 8 << 10

    let largeMessages = Turns<ShareOwner>(most: 1)
    let asking = Turns<ShareOwner>(most: 16)
    /// The turns of calls with memory files, which are limited by the total size of one user's files.
    fileprivate let files = Turns<ShareOwner>(most: 2 << 20)
    fileprivate let largeOfAll = Turns<Bool>(most: 1)
}

/// The turns for which one user's calls wait.
struct UserTurns: Sendable {
    /// The size, in bytes, up to which a call with memory files does not wait.
    private static let smallFiles = 16 << 10
    /// The size, in bytes, from which only one call is answered at a time, counting all users' calls.
    private static let largeFiles = 1 << 20

    let turns: CallTurns
    let owner: ShareOwner

    /// Runs `body` when the memory files of the user's other calls are small enough and no other call has large files.
    ///
    /// - Parameters:
    ///   - bytes: The size of the files that the method accepts.
    ///   - asksOwner: Whether the call may prompt the user. Such a call delays only calls of the same user.
    ///   - body: Reads the files and answers the call.
    /// - Returns: The answer.
    /// - Throws: The error of `body`.
    func takeFiles<Value: Sendable>(
        bringing bytes: Int,
        asksOwner: Bool,
        _ body: () async throws(ServiceRefusal) -> Value
    ) async throws(ServiceRefusal) -> Value {
        guard bytes > Self.smallFiles else { return try await body() }
        return try await turns.files.take(owner, size: bytes) { () async throws(ServiceRefusal) in
            // Each user has one call in the queue of all users.
            guard bytes > Self.largeFiles, !asksOwner else { return try await body() }
            return try await turns.largeOfAll.take(true, body)
        }
    }
}
