// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib

/// Holds one reference to an `FpDevice`.
///
/// Unchecked: the pointer never changes, GObject's reference count is safe from any thread, and everything else is
/// called on the GLib thread only, by the reader that owns the handle.
final class DeviceHandle: @unchecked Sendable {
    /// The C object, for as long as this handle lives.
    ///
    /// Transfer: none.
    let pointer: UnsafeMutablePointer<FpDevice>

    /// Takes a reference of its own to a device of a context.
    init(retaining pointer: UnsafeMutableRawPointer) {
        g_object_ref(pointer)
        self.pointer = pointer.assumingMemoryBound(to: FpDevice.self)
    }

    /// Whether the reader was unplugged (the property `removed` of `FpDevice`).
    var isRemoved: Bool {
        var value = GValue()
        g_value_init(&value, g_type_from_name("gboolean"))
        defer { g_value_unset(&value) }
        g_object_get_property(
            UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GObject.self),
            "removed",
            &value
        )
        return g_value_get_boolean(&value) != 0
    }

    deinit { g_object_unref(pointer) }
}
