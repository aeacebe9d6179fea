// SPDX-License-Identifier: Apache-2.0

import CGLib

/// The handler of a Unix signal, which exists as long as the process.
private final class UnixSignalHandler: Sendable {
    let body: @MainActor () -> Void

    init(_ body: @escaping @MainActor () -> Void) { self.body = body }
}

/// Calls a function on the main thread for each Unix signal with a number.
@MainActor
func onSignal(_ number: Int32, _ body: @escaping @MainActor () -> Void) {
    let handle: GSourceFunc = { data in
        guard let data else { return 0 }
        let handler = Unmanaged<UnixSignalHandler>.fromOpaque(data).takeUnretainedValue()
        MainActor.assumeIsolated { handler.body() }
        return 1
    }
    g_unix_signal_add(number, handle, Unmanaged.passRetained(UnixSignalHandler(body)).toOpaque())
}
