// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The operations of a store that wait for its database at one moment: for a connection, or for another's write.
public struct StoreWait: Sendable, Equatable {
    /// The number of operations that wait.
    public var operations: Int
    /// The time that the first of them has waited; zero if none waits.
    public var longest: Duration

    /// Makes a value; without arguments, none waits.
    public init(operations: Int = 0, longest: Duration = .zero) {
        self.operations = operations
        self.longest = longest
    }
}

/// A list of the operations that wait, each with the time of its arrival.
final class WaitingOperations: Sendable {
    private struct State {
        var next = 0
        var arrivals: [Int: ContinuousClock.Instant] = [:]
    }

    private let state = Mutex(State())

    /// Adds an operation; returns its number.
    func add() -> Int {
        state.withLock { state in
            state.next += 1
            state.arrivals[state.next] = .now
            return state.next
        }
    }

    /// Removes an operation that waits no longer; does nothing if it was removed before.
    func remove(_ number: Int) { state.withLock { _ = $0.arrivals.removeValue(forKey: number) } }

    /// The operations that wait now.
    var now: StoreWait {
        state.withLock { state in
            guard let first = state.arrivals.values.min() else { return StoreWait() }
            return StoreWait(operations: state.arrivals.count, longest: .now - first)
        }
    }
}
