// SPDX-License-Identifier: Apache-2.0

internal import CGLib

/// A reference to a `GObject` that belongs to the GLib thread; it is released on that thread.
///
/// Counting references is safe on any thread, but releasing the last one frees the object with its sockets, its signals
/// and its sources; libfprint's devices do not support that on any other thread.
///
/// Unchecked: the pointer never changes, and all calls on it are made on the GLib thread.
package final class ThreadBoundObject: @unchecked Sendable {
    /// The C object, valid for the lifetime of this value.
    ///
    /// Transfer: none.
    package let pointer: UnsafeMutableRawPointer

    /// Takes its own reference.
    package init(retaining pointer: UnsafeMutableRawPointer) {
        g_object_ref(pointer)
        self.pointer = pointer
    }

    deinit {
        let last = LastReference(pointer: pointer)
        GLibExecutor.shared.performAtOnceIfPossible { g_object_unref(last.pointer) }
    }
}

/// A reference on its way to the GLib thread.
///
/// Unchecked: it is used there, once.
private struct LastReference: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer
}
