// SPDX-License-Identifier: Apache-2.0

import CWhorlGLib
import WhorlGLib
import Glibc
import Testing
import WhorlSupport

@Suite struct `The GLib thread` {
    private actor Counter {
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            GLibExecutor.shared.asUnownedSerialExecutor()
        }
        private(set) var values: [Int] = []
        func append(_ value: Int) {
            GLibExecutor.shared.checkIsolated()
            values.append(value)
        }
    }

    @Test func `runs an actor's jobs in their order`() async {
        let counter = Counter()
        for value in 0..<1_000 { await counter.append(value) }
        #expect(await counter.values == Array(0..<1_000))
    }

    @Test func `loses no job of many callers at once`() async {
        let counter = Counter()
        await withTaskGroup(of: Void.self) { group in
            for value in 0..<500 { group.addTask { await counter.append(value) } }
        }
        #expect(await counter.values.sorted() == Array(0..<500))
    }

    @Test func `is not the thread that asks`() {
        #expect(GLibExecutor.shared.isIsolatingCurrentContext() == false)
    }

    @Test func `leaves GLib's main context to a main loop of the program`() async {
        await #expect(processExitsWith: .success) {
            await Counter().append(1)
            exit(try await canOwnContext() ? 0 : 1)
        }
    }

    @Test func `waits in GLib's main context where the program has no main loop`() async {
        await #expect(processExitsWith: .success) {
            GLibExecutor.ownContext()
            await Counter().append(1)
            exit(try await canOwnContext() ? 1 : 0)
        }
    }

    @Test func `runs jobs in a caller that owns the main context and blocks until work is done`() async {
        await #expect(processExitsWith: .success) {
            // Without its dispatching, the caller would wait forever.
            alarm(120)
            while g_main_context_acquire(nil) == 0 { usleep(1_000) }
            let counter = Counter()
            let values = WorkerThread.preflights.wait {
                await counter.append(1)
                return await counter.values
            }
            exit(values == [1] ? 0 : 1)
        }
    }
}

/// Returns whether this thread can own GLib's main context at one of many moments in which there is nothing to do.
private func canOwnContext() async throws -> Bool {
    // The GLib thread also owns it while it runs a job.
    try await Task.sleep(for: .milliseconds(500))
    for _ in 0..<100 {
        if g_main_context_acquire(nil) != 0 {
            g_main_context_release(nil)
            return true
        }
        try await Task.sleep(for: .milliseconds(5))
    }
    return false
}

/// One asynchronous call of GIO, with and without a cancellation.
@Suite struct `A bridged call` {
    private actor Caller {
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            GLibExecutor.shared.asUnownedSerialExecutor()
        }
        private var begun: OpaquePointer?
        private(set) var hasEnded = false

        /// A GTask, for which `began` ends; it ends with ``end()``, and then tells whether it was cancelled.
        func call(_ began: AsyncStream<Void>.Continuation) async throws(Failure) -> Bool {
            let cancellable = Cancellable()
            return try await bridge(cancellable) { result -> Result<Bool, Failure> in
                var error: UnsafeMutablePointer<GError>?
                let finished = g_task_propagate_boolean(result, &error) != 0
                if let error = GErrorText(taking: error) { return .failure(Failure(code: error.code)) }
                return .success(finished)
            } start: { reply in
                let task = g_task_new(nil, cancellable.pointer, readyCallback, reply.userData)
                g_task_set_check_cancellable(task, gboolean(1))
                begun = task
                began.finish()
            }
        }

        func end() {
            guard let task = begun else { return }
            begun = nil
            hasEnded = true
            g_task_return_boolean(task, gboolean(1))
            g_object_unref(UnsafeMutableRawPointer(task))
        }
    }

    private struct Failure: Error { let code: Int }

    @Test func `returns what the call's finish gave`() async throws {
        let caller = Caller()
        let (begins, began) = AsyncStream.makeStream(of: Void.self)
        let task = Task { try await caller.call(began) }
        for await _ in begins {}
        await caller.end()
        #expect(try await task.value)
    }

    @Test func `waits for the call's own end when its task is cancelled`() async {
        let caller = Caller()
        let (begins, began) = AsyncStream.makeStream(of: Void.self)
        let task = Task { () -> (code: Int?, hasEnded: Bool) in
            do throws(Failure) {
                _ = try await caller.call(began)
                return (nil, await caller.hasEnded)
            } catch {
                return (error.code, await caller.hasEnded)
            }
        }
        for await _ in begins {}
        task.cancel()
        // Whoever does not wait has enough turns of the loop to return before the end.
        for _ in 0..<100 { _ = await caller.hasEnded }
        await caller.end()
        let answer = await task.value
        #expect(answer.code == Int(G_IO_ERROR_CANCELLED.rawValue))
        #expect(answer.hasEnded)
    }
}
