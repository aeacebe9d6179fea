// SPDX-License-Identifier: Apache-2.0

import CGTK

/// A closure on its way to GTK's thread.
private final class MainThreadJob: Sendable {
    let body: @MainActor @Sendable () -> Void

    init(_ body: @escaping @MainActor @Sendable () -> Void) { self.body = body }
}

/// Calls a function on GTK's thread, after those that were handed over before.
///
/// It is the one way from the tasks that speak to the service to the window. GTK's loop is the main thread's, which never
/// waits for a task.
func onMainThread(_ body: @escaping @MainActor @Sendable () -> Void) {
    g_idle_add_full(G_PRIORITY_DEFAULT, run, Unmanaged.passRetained(MainThreadJob(body)).toOpaque(), nil)
}

/// Calls a function on GTK's thread after a while, in milliseconds.
func onMainThread(after milliseconds: UInt32, _ body: @escaping @MainActor @Sendable () -> Void) {
    let handed = Unmanaged.passRetained(MainThreadJob(body)).toOpaque()
    g_timeout_add_full(G_PRIORITY_DEFAULT, milliseconds, run, handed, nil)
}

private let run: GSourceFunc = { data in
    guard let data else { return 0 }
    let handed = Unmanaged<MainThreadJob>.fromOpaque(data).takeRetainedValue()
    MainActor.assumeIsolated { handed.body() }
    return 0
}
