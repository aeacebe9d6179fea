// SPDX-License-Identifier: Apache-2.0

internal import CGLib
internal import Synchronization
internal import WhorlSupport

/// Runs the jobs of an actor on GLib's default main context.
///
/// Why the default context and not one of our own: libfprint enumerates by iterating the default context until
/// its devices answer, and gusb delivers hotplug and blocks for synchronous transfers on it. On a thread with a
/// context of its own, `fp_context_enumerate()` never returns as soon as one device is there (seen with 1.94.5).
///
/// A thread of ours dispatches what is ready in the context, and owns the context for no longer than that. So a program
/// can start a GLib main loop of its own at any time (`g_application_run()` gives up if another thread owns the context
/// when it starts); that loop then owns the context, and the jobs run on its thread. Nothing is ever torn down: a job
/// that was enqueued after the end of a loop would wait for ever.
package final class GLibExecutor: SerialExecutor {
    /// The only one; there is only one default context in a process.
    package static let shared = GLibExecutor()

    private let watch: ContextWatch

    private init() {
        let watch = ContextWatch()
        self.watch = watch
        requireThread("whorl-glib") { watch.run() }
    }

    /// Enqueues at `G_PRIORITY_DEFAULT`, so that jobs run in their order, and in turns with the sources of libfprint.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        perform { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// Runs `work` once on the context's thread, soon; for calls that must not be made from another thread.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        let source = g_idle_source_new()
        g_source_set_priority(source, G_PRIORITY_DEFAULT)
        g_source_set_callback(
            source,
            { data in
                // The source holds one reference, which its destroy notification gives back.
                guard let data else { return gboolean(0) }
                Unmanaged<Work>.fromOpaque(data).takeUnretainedValue().run()
                return gboolean(0)  // G_SOURCE_REMOVE
            },
            Unmanaged.passRetained(Work(run: work)).toOpaque(),
            { data in data.map { Unmanaged<Work>.fromOpaque($0).release() } }
        )
        g_source_attach(source, nil)
        g_source_unref(source)
        watch.wake()
    }

    /// Runs `work` at once where the caller is on the context's thread, else as ``perform(_:)`` does; for what
    /// destructors have to do, which run wherever the last reference is dropped.
    package func performAtOnceIfPossible(_ work: @escaping @Sendable () -> Void) {
        if g_main_context_is_owner(nil) != 0 { work() } else { perform(work) }
    }

    /// Has the context looked at often until ``endCall()``: an asynchronous C call goes on.
    func beginCall() {
        watch.calls.add(1, ordering: .relaxed)
        watch.wake()
    }

    /// Ends what ``beginCall()`` began.
    func endCall() { watch.calls.subtract(1, ordering: .relaxed) }

    /// Whether the caller is on the thread that owns the context now; `assumeIsolated` in C callbacks needs it.
    package func isIsolatingCurrentContext() -> Bool? {
        g_main_context_is_owner(nil) != 0
    }

    package func checkIsolated() {
        precondition(g_main_context_is_owner(nil) != 0, "not on the GLib thread")
    }
}

/// One piece of work on its way to the context.
private final class Work: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
}
