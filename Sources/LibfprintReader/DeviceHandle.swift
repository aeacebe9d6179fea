// SPDX-License-Identifier: Apache-2.0

internal import CFprint
internal import CGLib
internal import GLibRuntime

/// Holds one reference to an `FpDevice`; it is called on the GLib thread only, by the reader that owns the handle.
final class DeviceHandle: Sendable {
    private let object: ThreadBoundObject

    /// Takes a reference of its own to a device of a context.
    init(retaining pointer: UnsafeMutableRawPointer) {
        object = ThreadBoundObject(retaining: pointer)
    }

    /// The C object, for as long as this handle lives.
    ///
    /// Transfer: none.
    var pointer: UnsafeMutablePointer<FpDevice> { object.pointer.assumingMemoryBound(to: FpDevice.self) }

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
}
