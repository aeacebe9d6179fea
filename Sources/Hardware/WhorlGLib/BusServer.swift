// SPDX-License-Identifier: Apache-2.0

internal import CWhorlGLib
internal import Synchronization

/// An object in this process that other programs can call over D-Bus.
package protocol ServedObject: AnyObject, Sendable {
    /// Handles a call on the GLib thread. The reply may be sent later.
    func call(_ method: String, _ parameters: BusValue, from client: String, _ reply: BusReply)
    /// Returns the value of a property. Called on the GLib thread.
    func property(_ name: String) -> BusContent?
}

/// A server for this process's objects and names on the system D-Bus.
package final class BusServer: Sendable {
    private let connection: BusConnection
    private let share = BusShare()

    init(_ connection: BusConnection) {
        self.connection = connection
        share.watch(connection)
    }

    /// Serves an object on the bus until its registration is removed.
    ///
    /// - Parameters:
    ///   - object: The object, which is retained until then.
    ///   - path: The path of the object.
    ///   - interface: The D-Bus XML of a node with this interface only.
    /// - Returns: The registration, which can be passed to ``remove(_:)``.
    /// - Throws: The reason why the path cannot be served.
    @discardableResult
    package func serve(
        _ object: any ServedObject,
        at path: String,
        interface: String
    ) throws(SystemBus.Fault) -> UInt32 {
        var failure: UnsafeMutablePointer<GError>?
        guard let node = g_dbus_node_info_new_for_xml(interface, &failure) else {
            throw SystemBus.Fault(taking: failure)
        }
        defer { g_dbus_node_info_unref(node) }
        let id = withUnsafePointer(to: ServedCalls.table) { table in
            g_dbus_connection_register_object(
                connection.pointer,
                path,
                node.pointee.interfaces[0],
                table,
                Unmanaged.passRetained(ServedCalls(object, share)).toOpaque(),
                { data in data.map { Unmanaged<ServedCalls>.fromOpaque($0).release() } },
                &failure
            )
        }
        guard id != 0 else { throw SystemBus.Fault(taking: failure) }
        return id
    }

    /// Stops serving an object that was registered with ``serve(_:at:interface:)``.
    package func remove(_ registration: UInt32) {
        g_dbus_connection_unregister_object(connection.pointer, registration)
    }

    /// Broadcasts a signal.
    package func emit(_ signal: String, of interface: String, at path: String, _ parts: [BusContent]) {
        // Fails only for invalid names, and after the connection has ended.
        g_dbus_connection_emit_signal(
            connection.pointer,
            nil,
            path,
            interface,
            signal,
            BusContent.tuple(parts),
            nil
        )
    }

    /// Owns a name on the bus for the lifetime of the process.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - lost: Called on the GLib thread if another process owns the name or the bus has shut down.
    package func own(_ name: String, lost: @escaping @Sendable () -> Void) {
        g_bus_own_name_on_connection(
            connection.pointer,
            name,
            G_BUS_NAME_OWNER_FLAGS_NONE,
            nil,
            { _, _, data in Callback.run(data) },
            Callback.retained(lost),
            Callback.release
        )
    }

    /// Calls a function on the GLib thread when a client leaves the bus, or immediately if it has already left.
    package func watch(_ client: String, left: @escaping @Sendable () -> Void) -> ClientWatch {
        ClientWatch(
            id: g_bus_watch_name_on_connection(
                connection.pointer,
                client,
                G_BUS_NAME_WATCHER_FLAGS_NONE,
                nil,
                { _, _, data in Callback.run(data) },
                Callback.retained(left),
                Callback.release
            )
        )
    }
}

/// A watch on a client, which ends when this value is released.
package final class ClientWatch: Sendable {
    private let id: UInt32

    fileprivate init(id: UInt32) { self.id = id }

    deinit { g_bus_unwatch_name(id) }
}

/// The receiver of GLib's calls for a served object.
private final class ServedCalls: Sendable {
    private let object: any ServedObject
    private let share: BusShare

    init(_ object: any ServedObject, _ share: BusShare) {
        self.object = object
        self.share = share
    }

    static var table: GDBusInterfaceVTable {
        var table = GDBusInterfaceVTable()
        table.method_call = { _, sender, _, _, method, parameters, invocation, data in
            guard let data, let method, let parameters, let invocation else { return }
            let calls = Unmanaged<ServedCalls>.fromOpaque(data).takeUnretainedValue()
            let client = sender.map { String(cString: $0) } ?? ""
            // No message is sent for such a call, so the client's share is released here.
            let isQuiet = BusShare.wantsNoAnswer(g_dbus_method_invocation_get_message(invocation))
            let reply = BusReply(taking: invocation) { [share = calls.share] in
                if isQuiet { share.end(client) }
            }
            calls.object.call(String(cString: method), BusValue(parameters), from: client, reply)
        }
        table.get_property = { _, _, _, _, property, failure, data in
            guard let data, let property else { return nil }
            let object = Unmanaged<ServedCalls>.fromOpaque(data).takeUnretainedValue().object
            guard let value = object.property(String(cString: property)) else {
                if let failure {
                    let code = gint(G_IO_ERROR_NOT_FOUND.rawValue)
                    failure.pointee = g_error_new_literal(g_io_error_quark(), code, "no such property")
                }
                return nil
            }
            return value.make()
        }
        return table
    }
}

/// The means of replying to one D-Bus call.
///
/// Only the first reply counts, and if none is sent, the caller receives an error.
package final class BusReply: Sendable {
    private let invocation: Mutex<Invocation?>
    private let onEnd: @Sendable () -> Void

    /// Takes ownership of a reference to the call.
    ///
    /// - Parameters:
    ///   - pointer: The call.
    ///   - onEnd: Called once, when the reply is sent.
    init(taking pointer: OpaquePointer, onEnd: @escaping @Sendable () -> Void) {
        invocation = Mutex(Invocation(pointer: pointer))
        self.onEnd = onEnd
    }

    deinit { refuse("org.freedesktop.DBus.Error.Failed", "The call ended without a reply.") }

    /// Replies with values.
    package func answer(_ parts: [BusContent] = []) {
        // Transfer: full; the reply's reference is floating.
        taken().map { g_dbus_method_invocation_return_value($0.pointer, BusContent.tuple(parts)) }
    }

    /// Replies with an error.
    package func refuse(_ name: String, _ message: String) {
        taken().map { g_dbus_method_invocation_return_dbus_error($0.pointer, name, message) }
    }

    private func taken() -> Invocation? {
        let taken = invocation.withLock { invocation in
            defer { invocation = nil }
            return invocation
        }
        if taken != nil { onEnd() }
        return taken
    }
}

/// A call that has not been replied to yet.
///
/// Unchecked: only one thread takes it, and GLib can send replies from any thread.
private struct Invocation: @unchecked Sendable {
    let pointer: OpaquePointer
}
