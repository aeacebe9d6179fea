// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// A thread that runs the jobs of tasks, so that they proceed even if every thread of the shared pool is blocked.
///
/// `canEvaluatePolicy` blocks its caller, which may be on the pool, until asynchronous work is done. On the pool, that
/// work could wait forever for a free thread.
package final class WorkerThread: TaskExecutor {
    /// The thread for preflights, which block their caller.
    package static let preflights = WorkerThread(name: "whorl-preflight")
    /// The thread for evaluations, separate from preflights because a program's presenter may block.
    package static let evaluations = WorkerThread(name: "whorl-evaluate")

    /// The thread for operations on protected items.
    package static let releases = WorkerThread(name: "whorl-release")

    private let thread: JobThread

    private init(name: String) { thread = JobThread(name) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        thread.add { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Performs asynchronous work on this thread, and blocks the caller until it is done.
    ///
    /// It must not be called on this thread.
    package func wait<Value: Sendable>(for work: @escaping @Sendable () async -> Value) -> Value {
        let answer = Answer<Value>()
        let done = DispatchSemaphore(value: 0)
        MainContext.wait(for: done) { wakeUp in
            Task(executorPreference: self) {
                let value = await work()
                answer.value.withLock { $0 = value }
                done.signal()
                wakeUp()
            }
        }
        guard let value = answer.value.withLock({ $0 }) else {
            preconditionFailure("the signal comes after the answer")
        }
        return value
    }

    private final class Answer<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }
}

/// GLib's default main context, for callers that block until asynchronous work is done.
///
/// GLib is called only if the program has loaded it, as GTK programs do; other programs do not need it to build or run.
private enum MainContext {
    private typealias IsOwner = @convention(c) (OpaquePointer?) -> CInt
    private typealias Iterate = @convention(c) (OpaquePointer?, CInt) -> CInt
    private typealias WakeUp = @convention(c) @Sendable (OpaquePointer?) -> Void

    /// Blocks the caller until work that may need the GLib thread has signalled `done`.
    ///
    /// If the caller owns the context, as a GTK program's main thread does in a handler, it *is* the GLib thread. It
    /// then dispatches the context while it waits, like a modal dialog. Otherwise the work would never end if the
    /// engine or the program's own prompt needs that thread.
    ///
    /// - Parameters:
    ///   - done: A semaphore whose count is 0.
    ///   - begin: Starts the work; takes a function that the work must call after it has signalled `done`.
    static func wait(for done: DispatchSemaphore, _ begin: (@escaping @Sendable () -> Void) -> Void) {
        guard let isOwner = gnuFunction("g_main_context_is_owner", as: IsOwner.self), isOwner(nil) != 0,
            let iterate = gnuFunction("g_main_context_iteration", as: Iterate.self),
            let wakeUp = gnuFunction("g_main_context_wakeup", as: WakeUp.self)
        else {
            begin {}
            done.wait()
            return
        }
        begin { wakeUp(nil) }
        while done.wait(timeout: .now()) == .timedOut { _ = iterate(nil, 1) }
    }
}
