// SPDX-License-Identifier: Apache-2.0

import CGLib

/// A closure to run on GTK's thread.
private final class MainThreadJob: Sendable {
    let body: @MainActor @Sendable () -> Void

    init(_ body: @escaping @MainActor @Sendable () -> Void) { self.body = body }
}

/// Calls a function on GTK's thread, after those that were passed before.
///
/// Tasks that communicate with the service use only this function to change the window. GTK's loop is on the main
/// thread, which never waits for a task.
package func onMainThread(_ body: @escaping @MainActor @Sendable () -> Void) {
    g_idle_add_full(G_PRIORITY_DEFAULT, run, Unmanaged.passRetained(MainThreadJob(body)).toOpaque(), nil)
}

/// Calls a function on GTK's thread after a delay in milliseconds.
package func onMainThread(after milliseconds: UInt32, _ body: @escaping @MainActor @Sendable () -> Void) {
    let handed = Unmanaged.passRetained(MainThreadJob(body)).toOpaque()
    g_timeout_add_full(G_PRIORITY_DEFAULT, milliseconds, run, handed, nil)
}

private let run: GSourceFunc = { data in
    guard let data else { return 0 }
    let handed = Unmanaged<MainThreadJob>.fromOpaque(data).takeRetainedValue()
    MainActor.assumeIsolated { handed.body() }
    return 0
}
