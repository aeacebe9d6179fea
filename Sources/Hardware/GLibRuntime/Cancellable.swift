// SPDX-License-Identifier: Apache-2.0

package import CGLib

/// An owned `GCancellable`.
package struct Cancellable: ~Copyable {
    private let object: SharedCancellable

    package init() {
        object = SharedCancellable()
    }

    /// The C object (transfer none), valid for the lifetime of this value.
    package var pointer: UnsafeMutablePointer<GCancellable> { object.pointer }

    /// A function for any thread that cancels on the GLib thread: libfprint's handlers of the signal change a device's
    /// state on the thread that cancels.
    package var trigger: @Sendable () -> Void {
        let object = object
        return { GLibExecutor.shared.perform { g_cancellable_cancel(object.pointer) } }
    }
}

/// A shared owner of the C object, since the trigger may be called after the operation's end.
///
/// Unchecked: the pointer never changes, and GCancellable's reference count and `g_cancellable_cancel()` are safe
/// from any thread.
private final class SharedCancellable: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GCancellable>

    init() {
        guard let pointer = g_cancellable_new() else {
            preconditionFailure("g_cancellable_new() returned NULL")
        }
        self.pointer = pointer
    }

    deinit { g_object_unref(pointer) }
}
