// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct OperationGateTests {
    @Test func `an operation alone runs at once and gives its value`() async throws {
        let gate = OperationGate()
        for policy in [BusyPolicy.wait, .fail] {
            let value = try await gate.run("one", whenBusy: policy) { 7 }
            #expect(value == 7)
        }
    }

    @Test func `a second one is refused while the first runs, and let in after it failed`() async throws {
        let gate = OperationGate()
        let (held, release) = await hold(gate)
        await #expect(throws: ReaderError(.busy, operation: "second")) {
            try await gate.run("second", whenBusy: .fail) {}
        }
        release.finish()
        try await held.value
        await #expect(throws: ReaderError(.malfunction, operation: "x")) {
            try await gate.run("fails", whenBusy: .fail) { () throws(ReaderError) in
                throw ReaderError(.malfunction, operation: "x")
            }
        }
        try await gate.run("third", whenBusy: .fail) {}
    }

    @Test func `those that wait come in their order`() async throws {
        let gate = OperationGate()
        let order = Shared<[Int]>([])
        let (held, release) = await hold(gate)
        var waiting: [Task<Void, any Error>] = []
        for number in 0..<20 {
            let (started, start) = AsyncStream<Void>.makeStream()
            waiting.append(
                // Immediate: it runs until it waits in the gate, so that the order of arrival is this loop's.
                Task.immediate {
                    start.finish()
                    try await gate.run("waits", whenBusy: .wait) { order.change { $0.append(number) } }
                }
            )
            for await _ in started {}
        }
        release.finish()
        try await held.value
        for task in waiting { try await task.value }
        #expect(order.value == Array(0..<20))
    }

    @Test func `one that is cancelled while it waits leaves at once, and the others keep their turn`()
        async throws
    {
        let gate = OperationGate()
        let (held, release) = await hold(gate)
        let first = Task.immediate { try await gate.run("first", whenBusy: .wait) { 1 } }
        let second = Task.immediate { try await gate.run("second", whenBusy: .wait) { 2 } }
        first.cancel()
        await #expect(throws: ReaderError(.cancelled, operation: "first")) { try await first.value }
        release.finish()
        try await held.value
        #expect(try await second.value == 2)
        try await gate.run("free again", whenBusy: .fail) {}
    }

    @Test func `one that was cancelled before it waits is told so`() async throws {
        let gate = OperationGate()
        let (held, release) = await hold(gate)
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            try await gate.run("late", whenBusy: .wait) {}
        }
        late.cancel()
        await #expect(throws: ReaderError(.cancelled, operation: "late")) { try await late.value }
        release.finish()
        try await held.value
    }

    @Test func `under many tasks no two run at once, none is lost, and it is free at the end`() async throws {
        let gate = OperationGate()
        let inside = Shared((now: 0, most: 0))
        let outcomes = await withTaskGroup(of: Bool.self, returning: [Bool].self) { group in
            for number in 0..<600 {
                let task = Task {
                    try await gate.run("work", whenBusy: .wait) {
                        inside.change { ($0.now, $0.most) = ($0.now + 1, max($0.most, $0.now + 1)) }
                        await Task.yield()
                        inside.change { $0.now -= 1 }
                    }
                }
                if number.isMultiple(of: 3) {
                    group.addTask {
                        for _ in 0..<(number % 7) { await Task.yield() }
                        task.cancel()
                        return (try? await task.value) != nil
                    }
                } else {
                    group.addTask { (try? await task.value) != nil }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 600)
        #expect(outcomes.count { $0 } >= 400)
        #expect(inside.value == (now: 0, most: 1))
        try await gate.run("free", whenBusy: .fail) {}
    }

    /// An operation that runs until the continuation is finished.
    private func hold(_ gate: OperationGate) async -> (Task<Void, any Error>, AsyncStream<Void>.Continuation)
    {
        let (entered, enter) = AsyncStream<Void>.makeStream()
        let (released, release) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await gate.run("held", whenBusy: .fail) {
                enter.finish()
                for await _ in released {}
            }
        }
        for await _ in entered {}
        return (task, release)
    }
}

/// A value that many tasks change.
private final class Shared<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) { mutex = Mutex(value) }

    var value: Value { mutex.withLock { $0 } }

    func change(_ body: (inout Value) -> Void) { mutex.withLock { body(&$0) } }
}
