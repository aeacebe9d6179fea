// SPDX-License-Identifier: Apache-2.0

import CKioskGTK

typealias Widget = UnsafeMutablePointer<GtkWidget>

extension Widget {
    /// Returns the same object as one of its base types or subtypes.
    func of<Object>(_ type: Object.Type) -> UnsafeMutablePointer<Object> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: type)
    }
}

/// Calls the greeter whenever an object emits a signal without arguments.
@MainActor
func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping Call.Body) {
    let emitted: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
        guard let data else { return }
        let call = Unmanaged<Call>.fromOpaque(data).takeUnretainedValue()
        MainActor.assumeIsolated { call.body() }
    }
    let forget: GClosureNotify = { data, _ in
        if let data { Unmanaged<Call>.fromOpaque(data).release() }
    }
    _ = g_signal_connect_data(
        object,
        signal,
        unsafeBitCast(emitted, to: GCallback.self),
        Unmanaged.passRetained(Call(body)).toOpaque(),
        forget,
        GConnectFlags(0)
    )
}

/// A closure that is called on GTK's thread.
final class Call: Sendable {
    typealias Body = @MainActor @Sendable () -> Void
    let body: Body

    init(_ body: @escaping Body) { self.body = body }
}

/// A delayed call, which can be canceled.
@MainActor
final class Alarm {
    private var source: guint = 0

    /// Calls a function after a number of seconds, instead of an earlier one.
    func set(seconds: Int, _ body: @escaping Call.Body) {
        stop()
        let run: GSourceFunc = { data in
            guard let data else { return 0 }
            let call = Unmanaged<Call>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { call.body() }
            return 0
        }
        let forget: GDestroyNotify = { data in
            if let data { Unmanaged<Call>.fromOpaque(data).release() }
        }
        let call = Call { [weak self] in
            self?.source = 0
            body()
        }
        source = g_timeout_add_seconds_full(
            G_PRIORITY_DEFAULT,
            guint(seconds),
            run,
            Unmanaged.passRetained(call).toOpaque(),
            forget
        )
    }

    func stop() {
        if source != 0 { g_source_remove(source) }
        source = 0
    }
}
