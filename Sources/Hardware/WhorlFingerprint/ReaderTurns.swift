// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Manages exclusive turns at a reader, for work that consists of several operations.
///
/// A reader's gate admits one *operation* at a time. Between two operations of an enrollment, another task in this
/// process could therefore close the reader, or mistake the enrollment for an interrupted one. Other processes cannot
/// do this, because they cannot open the reader.
package enum ReaderTurns {
    /// The gate for a reader's turns, which exists as long as it is in use.
    private struct Turns {
        let gate = OperationGate()
        var users = 0
    }

    private static let turns = Mutex<[ObjectIdentifier: Turns]>([:])

    /// Waits for a turn at the reader and runs `body`, which opens, uses and closes the reader.
    ///
    /// - Throws: `busy` if the reader is in use and `policy` is not to wait, `cancelled` if the task was cancelled
    ///   while waiting, or the errors of `body`.
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

    /// Waits for a turn at the reader and takes it, for work that does not end in the function that started it.
    ///
    /// - Throws: `cancelled` if the task was cancelled while waiting.
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
            // Keeps the reader alive during its turn: a new object at the same address would otherwise get the turn.
            withExtendedLifetime(reader) {
                gate.leave()
                leave(key)
            }
        }
    }

    /// Returns the number of tasks that have a turn at the reader or are waiting for one.
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

/// A turn at a reader, which ends when its last reference is released.
package final class ReaderTurn: Sendable {
    /// Whether the caller had to wait because the reader was in use.
    ///
    /// If so, a finger meant for that use may still be on it.
    package let hasWaited: Bool
    private let end: @Sendable () -> Void

    fileprivate init(hasWaited: Bool, end: @escaping @Sendable () -> Void) {
        self.hasWaited = hasWaited
        self.end = end
    }

    deinit { end() }
}
