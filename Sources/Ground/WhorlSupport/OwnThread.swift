// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import Synchronization

/// Runs `body` on a detached thread that blocks all signals.
///
/// Signals are delivered to the program's other threads, because a handler on this thread would interrupt its system
/// calls.
///
/// - Parameters:
///   - name: The thread's name for debuggers; the kernel truncates it to 15 bytes.
///   - body: The thread's work.
/// - Returns: `false` if the system has no threads left, in which case `body` does not run.
package func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    // The new thread inherits the signal mask.
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    // Retained here; the thread releases it once.
    let work = Unmanaged.passRetained(ThreadWork(name: name, body: body))
    var thread = pthread_t()
    let failure = pthread_create(
        &thread,
        nil,
        { argument in
            guard let argument else { return nil }
            let work = Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue()
            work.run()
            return nil
        },
        work.toOpaque()
    )
    guard failure == 0 else {
        work.release()
        return false
    }
    pthread_detach(thread)
    return true
}

/// Runs blocking work on a separate thread, and waits for the result without blocking the caller's thread.
///
/// Cancelling the task does not end the work.
///
/// - Returns: The result of `body`; `nil` if the system has no threads left.
package func onThread<Value: Sendable>(
    _ name: String,
    _ body: @escaping @Sendable () -> Value
) async -> Value? {
    await withCheckedContinuation { (done: CheckedContinuation<Value?, Never>) in
        if !startThread(name, { done.resume(returning: body()) }) { done.resume(returning: nil) }
    }
}

private final class ThreadWork: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    func run() {
        typealias Call = @convention(c) (pthread_t, UnsafePointer<CChar>) -> CInt
        let short = String(decoding: name.utf8.prefix(15), as: UTF8.self)
        _ = gnuFunction("pthread_setname_np", as: Call.self)?(pthread_self(), short)
        body()
    }
}

/// Runs `body` on a detached thread that blocks all signals.
///
/// The process exits if the system has no threads left. Use this for a thread without which work would wait forever.
package func requireThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
    precondition(startThread(name, body), "the system has no thread left for \(name)")
}

/// A thread that runs jobs in order, for work that blocks or that must not wait for Swift's shared pool.
///
/// The thread starts with the first job, ends after ten seconds without a job, and starts again with the next one. If
/// the system has no threads left, the jobs wait until it does.
package final class JobThread: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isClosed = false
        /// Whether the thread is running or starting.
        var isRunning = false
        var thread: pthread_t?
    }

    private let name: String
    private let idle: Duration
    private let starting: Starting
    private let state = Mutex(State())
    /// A semaphore that wakes the thread for a job or for closing.
    private let available = DispatchSemaphore(value: 0)

    /// Creates a thread object; the thread itself starts with its first job.
    ///
    /// - Parameters:
    ///   - name: The thread's name for debuggers.
    ///   - idle: The time without a job after which the thread ends.
    ///   - starting: Starts a thread; returns `false` if the system has no threads left.
    package init(
        _ name: String,
        idle: Duration = .seconds(10),
        starting: @escaping Starting = startThread
    ) {
        self.name = name
        self.idle = idle
        self.starting = starting
    }

    /// A function that starts a thread with a name and a body.
    package typealias Starting = @Sendable (String, @escaping @Sendable () -> Void) -> Bool

    /// Adds a job after those that are already waiting.
    package func add(_ job: @escaping @Sendable () -> Void) {
        let isNew = state.withLock { state in
            guard !state.isClosed else { return false }
            state.jobs.append(job)
            guard !state.isRunning else { return false }
            state.isRunning = true
            return true
        }
        if isNew { start() } else { available.signal() }
    }

    /// Ends the thread after the jobs that are already waiting; jobs added later never run.
    package func close() {
        state.withLock { $0.isClosed = true }
        available.signal()
    }

    /// Whether the caller is running on this thread.
    package var isCurrent: Bool {
        let current = pthread_self()
        return state.withLock { $0.thread.map { pthread_equal($0, current) != 0 } ?? false }
    }

    /// Whether the thread is running or starting.
    package var isRunning: Bool { state.withLock(\.isRunning) }

    private func start() {
        guard !starting(name, { self.run() }) else { return }
        OffPoolTimer.run(after: .milliseconds(100)) { self.start() }
    }

    private func run() {
        state.withLock { $0.thread = pthread_self() }
        while true {
            while let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) { job() }
            let isLate =
                !state.withLock(\.isClosed)
                && available.wait(timeout: .now() + idle / .seconds(1)) == .timedOut
            let ends = state.withLock { state in
                guard state.jobs.isEmpty, isLate || state.isClosed else { return false }
                state.thread = nil
                state.isRunning = false
                return true
            }
            if ends { return }
        }
    }
}

/// The executor that the current task prefers; `nil` means the shared pool.
///
/// Use it for a task that must run where the current one does: the caller may be on a separate thread while no thread
/// of the pool is free.
package var currentExecutor: (any TaskExecutor)? {
    withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
}
