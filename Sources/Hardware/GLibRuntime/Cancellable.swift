// SPDX-License-Identifier: Apache-2.0

package import CGLib

/// Owns one `GCancellable`.
package struct Cancellable: ~Copyable {
    private let object: SharedCancellable

    package init() {
        object = SharedCancellable()
    }

    /// The C object (transfer none), for as long as this value lives.
    package var pointer: UnsafeMutablePointer<GCancellable> { object.pointer }

    /// Cancels, from any thread, on the GLib thread: libfprint's handlers of the signal touch a device's state
    /// in the thread that cancels.
    package var trigger: @Sendable () -> Void {
        let object = object
        return { GLibExecutor.shared.perform { g_cancellable_cancel(object.pointer) } }
    }
}

/// Keeps the C object for the trigger, which may be called after the operation's end.
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
