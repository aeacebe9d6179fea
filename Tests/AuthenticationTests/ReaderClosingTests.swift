// SPDX-License-Identifier: Apache-2.0

import WhorlEngine
import Dispatch
import WhorlEnrollment
import WhorlFingerprint
import Foundation
import Glibc
import Synchronization
import Testing
import WhorlService
import WhorlSupport

/// Something that can be waited for.
private final class Door: Sendable {
    private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

    func open() { continuation.finish() }
    func pass() async { for await _ in stream {} }
}

@Suite(.timeLimit(.minutes(10))) struct `A reader that takes long to close` {
    /// A reader whose closing waits for the door, and an engine on it.
    private func slow(_ steps: [ScriptedReader.Step]) async throws -> (Fixture, ScriptedReader, Door) {
        let fixture = try await Fixture.enrolled([])
        let door = Door()
        return (fixture, ScriptedReader(steps, whileClosing: { await door.pass() }), door)
    }

    @Test(arguments: [ScriptedReader.Step.match(0), .failure(.unplugged)])
    func `does not keep the answer waiting`(_ step: ScriptedReader.Step) async throws {
        let (fixture, reader, door) = try await slow([step])
        _ = await fixture.evaluate(engine: fixture.engine(reader: reader))
        #expect(reader.isOpen)
        door.open()
        try await eventually { !reader.isOpen }
        #expect(reader.counts.closes == 1)
    }

    @Test func `keeps the next evaluation waiting, here and in other processes`() async throws {
        let (fixture, reader, door) = try await slow([.match(0), .match(0)])
        _ = try await #require(fixture.evaluate(engine: fixture.engine(reader: reader)).success)
        // Whoever does not wait for the lock, as another process, gets none.
        let impatient = Fixture.request(timeout: .milliseconds(20))
        #expect(await fixture.evaluate(impatient, engine: fixture.engine()).code == .readerInUse)
        let next = Task { await fixture.evaluate(engine: fixture.engine(reader: reader)) }
        door.open()
        #expect(await next.value.success != nil)
        try await eventually { reader.counts.closes == 2 }
        #expect(reader.counts.opens == 2)
    }

    @Test func `keeps an enrollment waiting`() async throws {
        let (fixture, reader, door) = try await slow([.match(0)])
        _ = try await #require(fixture.evaluate(engine: fixture.engine(reader: reader)).success)
        // Who is cancelled before he asks gets the turn only where he need not wait for it.
        let impatient = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try? await ReaderTurns.take("another", on: reader)
        }
        #expect(await impatient.value === nil)
        let turn = Task { try await ReaderTurns.take("another", on: reader) }
        door.open()
        _ = try await turn.value
        #expect(!reader.isOpen)
    }

    @Test func `is closed also when the evaluation was cancelled`() async throws {
        let (fixture, reader, door) = try await slow([.wait])
        let task = Task { await fixture.evaluate(engine: fixture.engine(reader: reader)) }
        try await eventually { reader.counts.scans == 1 }
        task.cancel()
        #expect(await task.value.code == .appCancel)
        door.open()
        try await eventually { !reader.isOpen }
    }

    @Test func `holds up the end of the process for a moment, not for ever`() async {
        for isEverClosed in [true, false] {
            let result = await #expect(processExitsWith: .exitCode(7), observing: [\.standardErrorContent]) {
                [isEverClosed = isEverClosed as Bool] in
                let fixture = try await Fixture.enrolled([])
                let reader = ScriptedReader(
                    [.match(0)],
                    whileClosing: {
                        await exitBegun.pass()
                        if !isEverClosed { _ = await OffPoolTimer.wait(.seconds(3600)) }
                        say("closed")
                    }
                )
                _ = await fixture.evaluate(engine: fixture.engine(reader: reader))
                // What is registered last runs first: before the reader's closing is waited for.
                atexit {
                    say("answered ")
                    exitBegun.open()
                }
                exit(7)
            }
            let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(said.contains("answered closed") == isEverClosed, "\(said)")
        }
    }
}

@Suite struct `A program that blocks every thread of the pool` {
    /// A thread that runs the jobs of tasks, as `LAContext` has one.
    final class Worker: TaskExecutor {
        private let queue = DispatchQueue(label: "worker")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    @Test func `gets its answer all the same, and the reader is closed`() async {
        await #expect(processExitsWith: .success) {
            let fixture = try await Fixture.enrolled([.retry(.tooShort, event: true), .match(0)])
            fixture.reader.add([])
            let never = DispatchSemaphore(value: 0)
            for _ in 0..<256 { Task.detached { block(on: never) } }
            let done = DispatchSemaphore(value: 0)
            let worker = Worker()
            let succeeded = Atomic(false)
            Task(executorPreference: worker) {
                let first = await fixture.evaluate()
                // What follows the first one's answer may keep the profile for longer than the second one has.
                _ = try? await EvaluationLock.acquire(
                    EvaluationLock.path(in: fixture.directory, profile: fixture.profile),
                    within: .seconds(600)
                )
                // The second one comes to its end by its time limit alone.
                let second = await fixture.evaluate(Fixture.request(timeout: .milliseconds(30)))
                succeeded.store(first.success != nil && second.code == .timedOut, ordering: .relaxed)
                done.signal()
            }
            let isDone = wait(for: done)
            precondition(isDone, "it hangs")
            precondition(succeeded.load(ordering: .relaxed))
            precondition(fixture.reader.counts.closes == 2)
        }
    }
}

private let exitBegun = Door()

private func say(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

/// Blocks its thread, which tasks must not do.
private func block(on semaphore: DispatchSemaphore) { semaphore.wait() }

/// Blocks its thread for ten minutes at most.
private func wait(for semaphore: DispatchSemaphore) -> Bool {
    semaphore.wait(timeout: .now() + 600) == .success
}
