// SPDX-License-Identifier: Apache-2.0

internal import CWhorlGLib

/// A reference to a `GObject` that belongs to the GLib thread and is released there.
///
/// Reference counting is safe on any thread. However, releasing the last reference frees the object with its sockets,
/// signals and sources, and libfprint's devices support that only on the GLib thread.
///
/// Unchecked: the pointer never changes, and all calls on it are made on the GLib thread.
package final class ThreadBoundObject: @unchecked Sendable {
    /// The C object, valid for the lifetime of this value.
    ///
    /// Transfer: none.
    package let pointer: UnsafeMutableRawPointer

    /// Retains the object.
    package init(retaining pointer: UnsafeMutableRawPointer) {
        g_object_ref(pointer)
        self.pointer = pointer
    }

    deinit {
        let last = LastReference(pointer: pointer)
        GLibExecutor.shared.performAtOnceIfPossible { g_object_unref(last.pointer) }
    }
}

/// A reference that is being passed to the GLib thread.
///
/// Unchecked: it is used only once, on the GLib thread.
private struct LastReference: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer
}

/// A connection to a GObject signal, which is disconnected when this value is destroyed.
///
/// It retains the object. The handler runs on the GLib thread, and the signal is disconnected there, because the object
/// may be emitting on that thread.
package struct SignalConnection: ~Copyable {
    private let instance: ThreadBoundObject
    private let handler: gulong

    /// Connects to a signal whose handlers have the form `void (*)(instance, pointer, user_data)`.
    ///
    /// `notify::…` and `device-added` have this form. A signal without an argument does not.
    ///
    /// - Parameters:
    ///   - instance: The object that emits the signal.
    ///   - signal: The signal's name.
    ///   - onSignal: The handler, which receives the signal's argument. The argument is valid only during the call.
    package init(
        to instance: UnsafeMutableRawPointer,
        signal: String,
        onSignal: @escaping (UnsafeMutableRawPointer?) -> Void
    ) {
        let callback: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, argument, data in
            guard let data else { return }
            Unmanaged<SignalBox>.fromOpaque(data).takeUnretainedValue().onSignal(argument)
        }
        self.instance = ThreadBoundObject(retaining: instance)
        handler = g_signal_connect_data(
            instance,
            signal,
            // G_CALLBACK(): the signal's marshaller casts it back.
            unsafeBitCast(callback, to: GCallback.self),
            Unmanaged.passRetained(SignalBox(onSignal)).toOpaque(),
            { data, _ in data.map { Unmanaged<SignalBox>.fromOpaque($0).release() } },
            GConnectFlags(rawValue: 0)
        )
    }

    deinit {
        GLibExecutor.shared.performAtOnceIfPossible { [instance, handler] in
            g_signal_handler_disconnect(instance.pointer, handler)
        }
    }
}

private final class SignalBox {
    let onSignal: (UnsafeMutableRawPointer?) -> Void
    init(_ onSignal: @escaping (UnsafeMutableRawPointer?) -> Void) { self.onSignal = onSignal }
}
