// SPDX-License-Identifier: Apache-2.0

internal import CGLib
internal import GLibRuntime

/// A failure of a call over the machine's D-Bus: the bus or the service is not there, or it refused.
package struct BusError: Error, Sendable, Hashable {
    /// The words of GLib or of the service.
    package let cause: String

    /// Makes an error with words for people.
    package init(cause: String) { self.cause = cause }
}

/// The connection to the machine's D-Bus, on the GLib thread.
actor SystemBus {
    /// The bus that DBUS_SYSTEM_BUS_ADDRESS names, else the machine's own.
    static let shared = SystemBus()

    /// The longest wait for an answer, in milliseconds.
    private static let patience: gint = 5000

    private var connection: ThreadBoundObject?

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    /// Calls a method that takes texts.
    func call(_ method: BusMethod, _ arguments: [String]) async throws(BusError) -> BusReply {
        let bus = try await connected()
        return try await bridge(Cancellable()) { (result) -> Result<BusReply, BusError> in
            var error: UnsafeMutablePointer<GError>?
            var files: UnsafeMutablePointer<GUnixFDList>?
            let reply = g_dbus_connection_call_with_unix_fd_list_finish(
                OpaquePointer(bus.pointer),
                &files,
                result,
                &error
            )
            defer { if let files { g_object_unref(files) } }
            guard let reply else { return .failure(BusError(taking: error)) }
            return .success(BusReply(taking: reply, files))
        } start: { reply in
            g_dbus_connection_call_with_unix_fd_list(
                OpaquePointer(bus.pointer),
                method.service,
                method.path,
                method.interface,
                method.name,
                tuple(arguments),
                nil,
                G_DBUS_CALL_FLAGS_NONE,
                Self.patience,
                nil,
                nil,
                readyCallback,
                reply.userData
            )
        }
    }

    /// Follows a signal whose only argument is a truth value, for as long as the process runs.
    func follow(_ signal: BusMethod, _ body: @escaping @Sendable (Bool) -> Void) async throws(BusError) {
        let bus = try await connected()
        g_dbus_connection_signal_subscribe(
            OpaquePointer(bus.pointer),
            signal.service,
            signal.interface,
            signal.name,
            signal.path,
            nil,
            G_DBUS_SIGNAL_FLAGS_NONE,
            { _, _, _, _, _, parameters, data in
                guard let data, let parameters, let value = firstTruth(in: parameters) else { return }
                Unmanaged<SignalBody>.fromOpaque(data).takeUnretainedValue().body(value)
            },
            Unmanaged.passRetained(SignalBody(body)).toOpaque(),
            { data in data.map { Unmanaged<SignalBody>.fromOpaque($0).release() } }
        )
    }

    private func connected() async throws(BusError) -> ThreadBoundObject {
        if let connection, g_dbus_connection_is_closed(OpaquePointer(connection.pointer)) == 0 {
            return connection
        }
        let made = try await bridge(Cancellable()) { (result) -> Result<ThreadBoundObject, BusError> in
            var error: UnsafeMutablePointer<GError>?
            guard let bus = g_bus_get_finish(result, &error) else {
                return .failure(BusError(taking: error))
            }
            defer { g_object_unref(UnsafeMutableRawPointer(bus)) }
            // GLib would end the process with the bus.
            g_dbus_connection_set_exit_on_close(bus, gboolean(0))
            return .success(ThreadBoundObject(retaining: UnsafeMutableRawPointer(bus)))
        } start: { reply in
            g_bus_get(G_BUS_TYPE_SYSTEM, nil, readyCallback, reply.userData)
        }
        connection = made
        return made
    }
}

/// The name of a method, signal or property of a service on the bus.
struct BusMethod: Sendable {
    let service: String
    let path: String
    let interface: String
    let name: String
}

/// The values of an answer that are read here; it owns the descriptor that came with it.
struct BusReply: Sendable {
    /// The first value, where it is a truth value, also inside a variant.
    let truth: Bool?
    /// The first descriptor beside the answer; its reader closes it.
    let descriptor: CInt?

    fileprivate init(taking reply: OpaquePointer, _ files: UnsafeMutablePointer<GUnixFDList>?) {
        truth = firstTruth(in: reply)
        g_variant_unref(reply)
        var error: UnsafeMutablePointer<GError>?
        // A duplicate, close-on-exec.
        let number = files.map { g_unix_fd_list_get($0, 0, &error) } ?? -1
        g_clear_error(&error)
        descriptor = number >= 0 ? number : nil
    }
}

extension BusError {
    fileprivate init(taking error: UnsafeMutablePointer<GError>?) {
        cause = GErrorText(taking: error)?.text ?? "no reason was given"
    }
}

private final class SignalBody: Sendable {
    let body: @Sendable (Bool) -> Void
    init(_ body: @escaping @Sendable (Bool) -> Void) { self.body = body }
}

/// Returns a floating tuple of texts.
private func tuple(_ texts: [String]) -> OpaquePointer? {
    let values: [OpaquePointer?] = texts.map { g_variant_new_string($0) }
    return g_variant_new_tuple(values, gsize(values.count))
}

/// Returns the first value of a tuple, where it is a truth value, also inside a variant.
private func firstTruth(in tuple: OpaquePointer) -> Bool? {
    guard g_variant_is_container(tuple) != 0, g_variant_n_children(tuple) > 0 else { return nil }
    guard var value = g_variant_get_child_value(tuple, 0) else { return nil }
    defer { g_variant_unref(value) }
    if g_variant_classify(value) == G_VARIANT_CLASS_VARIANT, let inner = g_variant_get_variant(value) {
        g_variant_unref(value)
        value = inner
    }
    guard g_variant_classify(value) == G_VARIANT_CLASS_BOOLEAN else { return nil }
    return g_variant_get_boolean(value) != 0
}
