// SPDX-License-Identifier: Apache-2.0

internal import CGLib
internal import WhorlSupport

/// A loop of GLib's own over the default context, for a program that answers others without delay.
///
/// ``GLibExecutor`` asks the context now and then; a loop waits in it, and is woken by other threads' sources.
package enum MainLoop {
    /// Runs the loop on a thread of its own until the process ends.
    package static func begin() {
        requireThread("whorl-loop") {
            let loop = g_main_loop_new(nil, gboolean(0))
            while true { g_main_loop_run(loop) }
        }
    }
}
