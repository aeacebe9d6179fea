// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Lets few calls of each user, or of whatever the key names, run at a time; the others wait in their order.
///
/// A user has hundreds of connections. Without turns, their calls could fill the memory, and the queues that all users share.
package final class Turns<Key: Hashable & Sendable>: Sendable {
    private struct Waiting {
        let size: Int
        let turn: CheckedContinuation<Void, Never>
    }

    private struct Calls {
        /// The sizes of those that run, together.
        var running = 0
        var waiting: [Waiting] = []

        /// Lets the first ones run for which there is room, and returns them.
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

    /// Allows so many calls at a time for each key, or calls of this size together.
    package init(most: Int) { self.most = most }

    /// Runs `body` when it is the call's turn.
    ///
    /// - Parameters:
    ///   - key: Whose turn it is.
    ///   - size: The size of the call, at least 1; one that is larger than all together may be runs alone.
    ///   - body: The call.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    package func take<Value: Sendable, Failure: Error>(
        _ key: Key,
        size: Int = 1,
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await begin(key, size: size)
        defer { end(key, size: size) }
        return try await body()
    }

    /// Waits for the call's turn, which ends with ``end(_:size:)``.
    func begin(_ key: Key, size: Int = 1) async {
        await withCheckedContinuation { (turn: CheckedContinuation<Void, Never>) in
            change(key) { $0.waiting.append(Waiting(size: size, turn: turn)) }
        }
    }

    /// Hands the turn to the next calls.
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

/// The turns of the calls of a server.
final class CallTurns: Sendable {
    /// The size from which on messages of a user are looked at and decoded one at a time, in bytes: that takes long enough that
    /// hundreds of them keep the threads from others' calls.
    static let largeMessage = 8 << 10

    let largeMessages = Turns<ShareOwner>(most: 1)
    let asking = Turns<ShareOwner>(most: 16)
    /// Calls of one user with memory files, by their bytes.
    fileprivate let files = Turns<ShareOwner>(most: 2 << 20)
    fileprivate let largeOfAll = Turns<Bool>(most: 1)
}

/// The turns that the calls of one user wait for.
struct UserTurns: Sendable {
    /// The size of the memory files beside a call up to which it waits for nothing, in bytes.
    private static let smallFiles = 16 << 10
    /// The size from which on one call of all users is answered at a time.
    private static let largeFiles = 1 << 20

    let turns: CallTurns
    let owner: ShareOwner

    /// Runs `body` when the user's other calls do not have many bytes beside them, and no other call has large files.
    ///
    /// - Parameters:
    ///   - bytes: The size of the files that the method takes.
    ///   - asksOwner: Whether somebody may be asked during the call: as long as that takes, it keeps back the same user's calls
    ///     alone.
    ///   - body: Reads the files, and answers.
    /// - Returns: The answer.
    /// - Throws: What `body` throws.
    func takeFiles<Value: Sendable>(
        bringing bytes: Int,
        asksOwner: Bool,
        _ body: () async throws(ServiceRefusal) -> Value
    ) async throws(ServiceRefusal) -> Value {
        guard bytes > Self.smallFiles else { return try await body() }
        return try await turns.files.take(owner, size: bytes) { () async throws(ServiceRefusal) in
            // Each user has one in the row of all users.
            guard bytes > Self.largeFiles, !asksOwner else { return try await body() }
            return try await turns.largeOfAll.take(true, body)
        }
    }
}
