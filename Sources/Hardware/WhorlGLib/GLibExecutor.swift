// SPDX-License-Identifier: Apache-2.0

internal import CWhorlGLib
internal import Synchronization
internal import WhorlSupport

/// An executor that runs the jobs of an actor on GLib's default main context.
///
/// It uses the default context because libfprint enumerates devices by iterating that context until they answer, and
/// because gusb uses it to deliver hotplug events and to block for synchronous transfers. On a thread with its own
/// context, `fp_context_enumerate()` never returns if there is a device (seen with 1.94.5).
///
/// A thread of this executor dispatches the sources that are ready in the context, and owns the context only while it
/// does so. A program can therefore start its own GLib main loop at any time (`g_application_run()` fails if another
/// thread owns the context). That loop then owns the context, and the jobs run on its thread. The executor's thread is
/// never stopped, because a job enqueued after the end of a loop would otherwise wait forever.
///
/// A program that never runs its own main loop calls ``ownContext()``.
package final class GLibExecutor: SerialExecutor {
    /// The executor of this process.
    ///
    /// A process has only one default context.
    package static let shared = GLibExecutor()

    private static let ownsContext = Atomic(false)

    private let watch: ContextWatch

    /// Lets this executor's thread own the context permanently in a program that never runs its own main loop.
    ///
    /// GLib then wakes the thread as soon as another thread has attached a source, and the thread never has to poll.
    /// Call this function when the program starts, because it has no effect after the first use of ``shared``.
    package static func ownContext() { ownsContext.store(true, ordering: .relaxed) }

    private init() {
        let watch = ContextWatch(owns: Self.ownsContext.load(ordering: .relaxed))
        self.watch = watch
        requireThread("whorl-glib") { watch.run() }
    }

    /// Enqueues a job at `G_PRIORITY_DEFAULT`, so that jobs run in order and alternate with libfprint's sources.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        perform { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// Runs `work` once, soon, on the context's thread.
    ///
    /// Use it for calls that must be made on that thread.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        let source = g_idle_source_new()
        g_source_set_priority(source, G_PRIORITY_DEFAULT)
        g_source_set_callback(
            source,
            { data in
                Callback.run(data)
                return gboolean(0)  // G_SOURCE_REMOVE
            },
            Callback.retained(work),
            Callback.release
        )
        g_source_attach(source, nil)
        g_source_unref(source)
        watch.wake()
    }

    /// Runs `work` immediately if the caller is on the context's thread, or else in the same way as ``perform(_:)``.
    ///
    /// Intended for deinitializers, which run on whichever thread releases the last reference.
    package func performAtOnceIfPossible(_ work: @escaping @Sendable () -> Void) {
        if g_main_context_is_owner(nil) != 0 { work() } else { perform(work) }
    }

    /// Makes the watch check the context often while an asynchronous C call is in progress, until ``endCall()`` is
    /// called.
    func beginCall() {
        watch.calls.add(1, ordering: .relaxed)
        watch.wake()
    }

    /// Ends the frequent checks that ``beginCall()`` started.
    func endCall() { watch.calls.subtract(1, ordering: .relaxed) }

    /// Returns whether the caller is on the thread that owns the context now.
    ///
    /// C callbacks need this for `assumeIsolated`.
    package func isIsolatingCurrentContext() -> Bool? {
        g_main_context_is_owner(nil) != 0
    }

    package func checkIsolated() {
        precondition(g_main_context_is_owner(nil) != 0, "not on the GLib thread")
    }
}

/// A function that is passed through C as the user data of a call with a destroy notification.
final class Callback: Sendable {
    private let function: @Sendable () -> Void

    private init(_ function: @escaping @Sendable () -> Void) { self.function = function }

    /// Returns the user data for a function, with one reference that ``release`` releases.
    static func retained(_ function: @escaping @Sendable () -> Void) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(Callback(function)).toOpaque()
    }

    /// Calls the function in the user data.
    static func run(_ data: UnsafeMutableRawPointer?) {
        data.map { Unmanaged<Callback>.fromOpaque($0).takeUnretainedValue().function() }
    }

    /// The destroy notification of the user data.
    static let release: GDestroyNotify = { data in
        data.map { Unmanaged<Callback>.fromOpaque($0).release() }
    }
}

/// An executor for tasks on the GLib thread, for work that must continue while all threads of Swift's shared pool are
/// blocked.
///
/// A plain `Task { }` starts on Swift's shared pool, even in an actor with another executor (Swift 6.3.1). Tasks on
/// this executor must not block.
package final class GLibTaskExecutor: TaskExecutor {
    /// The executor of this process, which has only one GLib thread.
    package static let shared = GLibTaskExecutor()

    private init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        GLibExecutor.shared.perform { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

/// A timer that calls a function repeatedly on the GLib thread, for the lifetime of this value.
///
/// Unlike `Task.sleep`, it does not need a thread from Swift's shared pool.
///
/// Unchecked: the pointer never changes, and a source may be destroyed from any thread.
package final class RepeatingTimer: @unchecked Sendable {
    private let source: UnsafeMutablePointer<GSource>

    /// Starts the timer.
    ///
    /// - Parameters:
    ///   - milliseconds: The time before the first call and between calls.
    ///   - onTick: The function to call, which must return soon. It may be called one more time while the timer is
    ///     being freed on another thread.
    package init(milliseconds: UInt32, onTick: @escaping @Sendable () -> Void) {
        guard let source = g_timeout_source_new(milliseconds) else {
            preconditionFailure("g_timeout_source_new() returned NULL")
        }
        self.source = source
        g_source_set_callback(
            source,
            { data in
                Callback.run(data)
                return gboolean(1)  // G_SOURCE_CONTINUE
            },
            Callback.retained(onTick),
            Callback.release
        )
        g_source_attach(source, nil)
    }

    deinit {
        g_source_destroy(source)
        g_source_unref(source)
    }
}
