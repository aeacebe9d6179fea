// SPDX-License-Identifier: Apache-2.0

internal import CGLib
package import Dispatch

/// GLib's default main context, for callers that block until asynchronous work is done.
package enum MainContext {
    /// Blocks the caller until work that may need the GLib thread has signalled `done`.
    ///
    /// If the caller owns the context, as a GTK program's main thread does in a handler, it *is* the GLib thread: it
    /// dispatches the context while it waits, like a modal dialog. Otherwise the work would never end.
    ///
    /// - Parameters:
    ///   - done: A semaphore with the count 0.
    ///   - begin: Begins the work; takes a function that the work must call after it has signalled `done`.
    package static func wait(for done: DispatchSemaphore, _ begin: (@escaping @Sendable () -> Void) -> Void) {
        guard g_main_context_is_owner(nil) != 0 else {
            begin {}
            done.wait()
            return
        }
        begin { g_main_context_wakeup(nil) }
        while done.wait(timeout: .now()) == .timedOut { g_main_context_iteration(nil, gboolean(1)) }
    }
}
