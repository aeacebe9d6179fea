// SPDX-License-Identifier: Apache-2.0

internal import CGLib
internal import Synchronization
internal import WhorlSupport

/// An executor that runs the jobs of an actor on GLib's default main context.
///
/// It uses the default context because libfprint enumerates by iterating the default context until its devices answer,
/// and gusb delivers hotplug and blocks for synchronous transfers on it. On a thread with its own context,
/// `fp_context_enumerate()` never returns as soon as one device exists (seen with 1.94.5).
///
/// A thread of this executor dispatches what is ready in the context, and owns the context only for that time. So a
/// program can start its own GLib main loop at any time (`g_application_run()` gives up if another thread owns the
/// context when it starts); that loop then owns the context, and the jobs run on its thread. Nothing is ever torn down:
/// a job that was enqueued after the end of a loop would wait forever.
package final class GLibExecutor: SerialExecutor {
    /// The executor of this process; a process has only one default context.
    package static let shared = GLibExecutor()

    private let watch: ContextWatch

    private init() {
        let watch = ContextWatch()
        self.watch = watch
        requireThread("whorl-glib") { watch.run() }
    }

    /// Enqueues a job at `G_PRIORITY_DEFAULT`, so that jobs run in order, and in turns with the sources of libfprint.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        perform { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// Runs `work` once on the context's thread, soon; for calls that must be made on that thread.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        let source = g_idle_source_new()
        g_source_set_priority(source, G_PRIORITY_DEFAULT)
        g_source_set_callback(
            source,
            { data in
                // The source holds one reference, which its destroy notification releases.
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

    /// Runs `work` at once if the caller is on the context's thread, otherwise like ``perform(_:)``; for the work of
    /// destructors, which run where the last reference is dropped.
    package func performAtOnceIfPossible(_ work: @escaping @Sendable () -> Void) {
        if g_main_context_is_owner(nil) != 0 { work() } else { perform(work) }
    }

    /// Makes the watch check the context often until ``endCall()``, while an asynchronous C call is running.
    func beginCall() {
        watch.calls.add(1, ordering: .relaxed)
        watch.wake()
    }

    /// Ends what ``beginCall()`` began.
    func endCall() { watch.calls.subtract(1, ordering: .relaxed) }

    /// Returns whether the caller is on the thread that owns the context now; `assumeIsolated` in C callbacks needs it.
    package func isIsolatingCurrentContext() -> Bool? {
        g_main_context_is_owner(nil) != 0
    }

    package func checkIsolated() {
        precondition(g_main_context_is_owner(nil) != 0, "not on the GLib thread")
    }
}

/// A piece of work on its way to the context.
private final class Work: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
}
