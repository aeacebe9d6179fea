// SPDX-License-Identifier: Apache-2.0

import CGLib
import GLibRuntime
import Testing

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
}

/// One asynchronous call of GIO, with and without a cancellation.
@Suite struct `A bridged call` {
    private actor Sleeper {
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            GLibExecutor.shared.asUnownedSerialExecutor()
        }

        /// A GTask that ends when it is cancelled, or after `milliseconds`.
        func sleep(milliseconds: UInt32) async throws(Failure) -> Bool {
            let cancellable = Cancellable()
            return try await bridge(cancellable) { result -> Result<Bool, Failure> in
                var error: UnsafeMutablePointer<GError>?
                let finished = g_task_propagate_boolean(result, &error) != 0
                if let error = GErrorText(taking: error) { return .failure(Failure(code: error.code)) }
                return .success(finished)
            } start: { reply in
                let task = g_task_new(nil, cancellable.pointer, readyCallback, reply.userData)
                g_task_set_check_cancellable(task, gboolean(1))
                g_timeout_add_full(
                    G_PRIORITY_DEFAULT,
                    milliseconds,
                    { data in
                        g_task_return_boolean(OpaquePointer(data), gboolean(1))
                        return gboolean(0)
                    },
                    UnsafeMutableRawPointer(task),
                    { data in g_object_unref(data) }
                )
            }
        }
    }

    private struct Failure: Error { let code: Int }

    @Test func `returns what the call's finish gave`() async throws {
        #expect(try await Sleeper().sleep(milliseconds: 1))
    }

    @Test func `waits for the call's own end when its task is cancelled`() async {
        let task = Task { () -> Int? in
            do throws(Failure) {
                _ = try await Sleeper().sleep(milliseconds: 50)
                return nil
            } catch {
                return error.code
            }
        }
        task.cancel()
        #expect(await task.value == Int(G_IO_ERROR_CANCELLED.rawValue))
    }
}
