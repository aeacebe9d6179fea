// SPDX-License-Identifier: Apache-2.0

internal import CGLib

/// A timer that calls a function on the GLib thread repeatedly for its lifetime.
///
/// Unlike `Task.sleep` it needs no thread of Swift's shared pool.
///
/// Unchecked: the pointer never changes, and a source may be destroyed from any thread.
package final class RepeatingTimer: @unchecked Sendable {
    private let source: UnsafeMutablePointer<GSource>

    /// Starts the timer.
    ///
    /// - Parameters:
    ///   - milliseconds: The time before the first call, and between calls.
    ///   - onTick: The function; it must return soon. It may be called once more while the timer is freed on another
    ///     thread.
    package init(milliseconds: UInt32, onTick: @escaping @Sendable () -> Void) {
        guard let source = g_timeout_source_new(milliseconds) else {
            preconditionFailure("g_timeout_source_new() returned NULL")
        }
        self.source = source
        g_source_set_callback(
            source,
            { data in
                guard let data else { return gboolean(0) }
                Unmanaged<Tick>.fromOpaque(data).takeUnretainedValue().run()
                return gboolean(1)  // G_SOURCE_CONTINUE
            },
            Unmanaged.passRetained(Tick(run: onTick)).toOpaque(),
            { data in data.map { Unmanaged<Tick>.fromOpaque($0).release() } }
        )
        g_source_attach(source, nil)
    }

    deinit {
        g_source_destroy(source)
        g_source_unref(source)
    }
}

/// The function that a timer calls.
private final class Tick: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
}
