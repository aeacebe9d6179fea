// SPDX-License-Identifier: Apache-2.0

internal import CGLib
internal import Synchronization

/// The answer to one call over D-Bus; the first one given counts, and one that is never given is an error.
package final class BusReply: Sendable {
    private let invocation: Mutex<Invocation?>

    /// Takes the call's reference.
    init(taking pointer: OpaquePointer) { invocation = Mutex(Invocation(pointer: pointer)) }

    deinit { refuse("org.freedesktop.DBus.Error.Failed", "The call ended without an answer.") }

    /// Answers with values.
    package func answer(_ parts: [BusContent] = []) {
        // Transfer: full; the answer's reference is floating.
        taken().map { g_dbus_method_invocation_return_value($0.pointer, BusContent.tuple(parts)) }
    }

    /// Answers with an error.
    package func refuse(_ name: String, _ message: String) {
        taken().map { g_dbus_method_invocation_return_dbus_error($0.pointer, name, message) }
    }

    private func taken() -> Invocation? {
        invocation.withLock { invocation in
            defer { invocation = nil }
            return invocation
        }
    }
}

/// A call that was not answered yet.
///
/// Unchecked: one thread takes it, and GLib sends answers from any thread.
private struct Invocation: @unchecked Sendable {
    let pointer: OpaquePointer
}
