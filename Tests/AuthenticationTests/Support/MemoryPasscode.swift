// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import WhorlSecretMemory
import Synchronization
import WhorlService

/// A passcode that is held in memory, with the rules of a real one: five wrong ones are free, then there is a wait.
final class MemoryPasscode: PasscodeAuthority {
    static let free = 5

    private struct State {
        var right: [UInt8]?
        var failures = 0
        var compared = 0
        var failure: ServiceError?
    }

    private let state: Mutex<State>
    private let beforeVerdict: @Sendable () async -> Void

    /// Sets a passcode; `beforeVerdict` runs during each comparison.
    init(_ right: String? = "1234", beforeVerdict: @escaping @Sendable () async -> Void = {}) {
        state = Mutex(State(right: right.map { Array($0.utf8) }))
        self.beforeVerdict = beforeVerdict
    }

    /// Wrong ones in a row.
    var failures: Int { state.withLock { $0.failures } }
    /// Comparisons ever.
    var compared: Int { state.withLock { $0.compared } }

    func remove() { state.withLock { $0.right = nil } }
    func fail() { state.withLock { $0.failure = ServiceError(.storeFailed, cause: "authority") } }

    var isSet: Bool { state.withLock { $0.right != nil } }

    func verify(
        _ passcode: borrowing SecretBytes
    ) async throws(ServiceError) -> PasscodeVerdict {
        await beforeVerdict()
        if let failure = state.withLock({ $0.failure }) { throw failure }
        guard let right = state.withLock({ $0.right }) else { return .notSet }
        let isThrottled = state.withLock { state in
            state.compared += 1
            return state.failures >= MemoryPasscode.free
        }
        guard !isThrottled else { return .throttled(for: .seconds(60)) }
        let isRight = passcode.withBytes { constantTimeEqual($0, right.span.bytes) }
        return state.withLock { state in
            state.failures = isRight ? 0 : state.failures + 1
            return isRight ? .verified : .wrong(triesLeft: MemoryPasscode.free - state.failures)
        }
    }
}

/// Something that one task waits for and another one lets happen; cancelling does not end the wait.
final class Gate: Sendable {
    private let state = Mutex((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.resume() }
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// Returns when the task is cancelled.
func cancellation() async {
    let never = AsyncStream<Never> { _ in }
    for await _ in never {}
}
