// SPDX-License-Identifier: Apache-2.0

internal import CGLib

/// Holds one reference to a `GObject` that belongs to the GLib thread, and gives it back on that thread.
///
/// Counting references is safe on any thread, but the last one that goes takes the object with it, with its
/// sockets, its signals and its sources; libfprint's devices are not made for that to happen anywhere else.
///
/// Unchecked: the pointer never changes, and all calls on it are made on the GLib thread.
package final class ThreadBoundObject: @unchecked Sendable {
    /// The C object, for as long as this value lives.
    ///
    /// Transfer: none.
    package let pointer: UnsafeMutableRawPointer

    /// Takes a reference of its own.
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
