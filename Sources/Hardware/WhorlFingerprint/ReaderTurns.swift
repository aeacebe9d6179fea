// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One piece of work at a time on a reader, for work that takes several of its operations.
///
/// A reader's own gate lets one *operation* through. Between two operations of an enrollment another task of this
/// process could close the reader, or take the enrollment's intent for an interrupted one. Other processes cannot:
/// they do not get the reader open.
package enum ReaderTurns {
    /// A reader's gate, for as long as somebody is at it.
    private struct Turns {
        let gate = OperationGate()
        var users = 0
    }

    private static let turns = Mutex<[ObjectIdentifier: Turns]>([:])

    /// Takes the reader's turn and runs `body`, which opens, uses and closes the reader.
    ///
    /// - Throws: `busy` when another one has the turn and `policy` is not to wait; `cancelled` when the task was
    ///   cancelled while it waited; what `body` throws.
    package static func run<Value: Sendable>(
        _ work: String,
        on reader: any FingerprintReader,
        whenBusy policy: BusyPolicy = .wait,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws(ReaderError) -> Value
    ) async throws(ReaderError) -> Value {
        let key = ObjectIdentifier(reader)
        let gate = join(key)
        defer { leave(key) }
        return try await gate.run(work, whenBusy: policy, isolation: isolation, body)
    }

    /// Waits for the reader's turn and takes it, for work that ends elsewhere than it began.
    ///
    /// - Throws: `cancelled` when the task was cancelled while it waited.
    package static func take(
        _ work: String,
        on reader: any FingerprintReader
    ) async throws(ReaderError) -> ReaderTurn {
        let key = ObjectIdentifier(reader)
        let gate = join(key)
        let hasWaited: Bool
        do throws(ReaderError) {
            hasWaited = try await gate.enter(work, .wait)
        } catch {
            leave(key)
            throw error
        }
        return ReaderTurn(hasWaited: hasWaited) {
            // The reader lives for as long as its turn: another one must not get its place in memory, and the turn.
            withExtendedLifetime(reader) {
                gate.leave()
                leave(key)
            }
        }
    }

    /// Returns the number of those who have a reader's turn or wait for it.
    package static func count(at reader: any FingerprintReader) -> Int {
        turns.withLock { $0[ObjectIdentifier(reader)]?.users ?? 0 }
    }

    private static func join(_ key: ObjectIdentifier) -> OperationGate {
        turns.withLock { turns in
            turns[key, default: Turns()].users += 1
            return turns[key, default: Turns()].gate
        }
    }

    private static func leave(_ key: ObjectIdentifier) {
        turns.withLock { turns in
            turns[key]?.users -= 1
            if turns[key]?.users == 0 { turns[key] = nil }
        }
    }
}

/// A reader's turn, until the last one who holds it lets go.
package final class ReaderTurn: Sendable {
    /// Whether another one had the reader before: a finger may still lie on it that was meant for the other.
    package let hasWaited: Bool
    private let end: @Sendable () -> Void

    fileprivate init(hasWaited: Bool, end: @escaping @Sendable () -> Void) {
        self.hasWaited = hasWaited
        self.end = end
    }

    deinit { end() }
}
