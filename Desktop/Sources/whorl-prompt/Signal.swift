// SPDX-License-Identifier: Apache-2.0

import CGTK

/// A handler of a widget's signal, which exists as long as the widget.
final class Handler: Sendable {
    fileprivate let body: @MainActor @Sendable (PromptWindow) -> Void

    init(_ body: @escaping @MainActor @Sendable (PromptWindow) -> Void) { self.body = body }
}

/// Calls a handler whenever a widget emits a signal without arguments.
@MainActor
func connectSignal(_ widget: UnsafeMutablePointer<GtkWidget>, _ signal: String, _ handler: Handler) {
    let emitted: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
        guard let data else { return }
        let handler = Unmanaged<Handler>.fromOpaque(data).takeUnretainedValue()
        MainActor.assumeIsolated { if let window = PromptWindow.shown { handler.body(window) } }
    }
    let forget: GClosureNotify = { data, _ in
        if let data { Unmanaged<Handler>.fromOpaque(data).release() }
    }
    _ = g_signal_connect_data(
        widget,
        signal,
        unsafeBitCast(emitted, to: GCallback.self),
        Unmanaged.passRetained(handler).toOpaque(),
        forget,
        GConnectFlags(0)
    )
}
