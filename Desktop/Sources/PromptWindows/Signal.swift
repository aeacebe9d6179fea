// SPDX-License-Identifier: Apache-2.0

package import CGTK

/// A handler of a widget's signal, which exists as long as the widget.
private final class Handler: Sendable {
    let body: @MainActor @Sendable () -> Void

    init(_ body: @escaping @MainActor @Sendable () -> Void) { self.body = body }
}

/// Calls a function whenever a widget emits a signal without arguments.
@MainActor
package func connectSignal(
    _ widget: UnsafeMutablePointer<GtkWidget>,
    _ signal: String,
    _ body: @escaping @MainActor @Sendable () -> Void
) {
    let emitted: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
        guard let data else { return }
        // The function may destroy the widget, and with it the handler.
        let body = Unmanaged<Handler>.fromOpaque(data).takeUnretainedValue().body
        MainActor.assumeIsolated { body() }
    }
    let forget: GClosureNotify = { data, _ in
        if let data { Unmanaged<Handler>.fromOpaque(data).release() }
    }
    _ = g_signal_connect_data(
        widget,
        signal,
        unsafeBitCast(emitted, to: GCallback.self),
        Unmanaged.passRetained(Handler(body)).toOpaque(),
        forget,
        GConnectFlags(0)
    )
}
