// SPDX-License-Identifier: Apache-2.0

internal import CGLib

/// Calls of other services over the system's D-Bus.
///
/// The connection is made at the first call, and made again after the bus was restarted. Its loss does not end the
/// process, as it would by GLib's default.
package actor SystemBus {
    /// The bus of this process.
    package static let shared = SystemBus()

    /// The failure of a call.
    package struct Fault: Error, Sendable, Hashable {
        /// The error's name on the bus, such as `org.freedesktop.login1.NoSessionForPID`; `nil` if none came.
        package let name: String?
        /// The cause in the words of GLib or the service.
        package let cause: String

        package init(name: String?, cause: String) {
            self.name = name
            self.cause = cause
        }
    }

    /// The object that a call goes to.
    package struct Target: Sendable, Hashable {
        /// The name of the service on the bus.
        package var service: String
        /// The path of the object.
        package var path: String

        package init(_ service: String, _ path: String) {
            self.service = service
            self.path = path
        }
    }

    private var connection: BusConnection?

    private init() {}

    /// The GLib thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    /// Calls a method, and waits for its answer.
    ///
    /// - Parameters:
    ///   - method: The qualified name, such as `org.freedesktop.login1.Manager.GetSessionByPID`.
    ///   - target: The service and its object.
    ///   - parameters: A tuple in GVariant's text form, made of words that this program chose and of numbers.
    ///   - seconds: The time limit.
    /// - Returns: The tuple of the answer.
    /// - Throws: the service's error, or the reason for which there is no answer.
    package func call(
        _ method: String,
        of target: Target,
        _ parameters: String,
        within seconds: Int32 = 25
    ) async throws(Fault) -> BusValue {
        guard let dot = method.lastIndex(of: ".") else { throw Fault(name: nil, cause: "no method") }
        let interface = String(method[..<dot])
        let member = String(method[method.index(after: dot)...])
        let connection = try await connected()
        var failure: UnsafeMutablePointer<GError>?
        guard let tuple = g_variant_parse(nil, parameters, nil, nil, &failure) else {
            throw Fault(taking: failure)
        }
        defer { g_variant_unref(tuple) }
        let cancellable = Cancellable()
        return try await bridge(cancellable) { result -> Result<BusValue, Fault> in
            var failure: UnsafeMutablePointer<GError>?
            guard let answer = g_dbus_connection_call_finish(connection.pointer, result, &failure) else {
                return .failure(Fault(taking: failure))
            }
            defer { g_variant_unref(answer) }
            return .success(BusValue(answer))
        } start: { reply in
            g_dbus_connection_call(
                connection.pointer,
                target.service,
                target.path,
                interface,
                member,
                tuple,
                nil,
                G_DBUS_CALL_FLAGS_NONE,
                seconds.multipliedReportingOverflow(by: 1000).partialValue,
                cancellable.pointer,
                readyCallback,
                reply.userData
            )
        }
    }

    private func connected() async throws(Fault) -> BusConnection {
        if let connection, g_dbus_connection_is_closed(connection.pointer) == 0 { return connection }
        let cancellable = Cancellable()
        let made = try await bridge(cancellable) { result -> Result<BusConnection, Fault> in
            var failure: UnsafeMutablePointer<GError>?
            guard let pointer = g_bus_get_finish(result, &failure) else {
                return .failure(Fault(taking: failure))
            }
            return .success(BusConnection(taking: pointer))
        } start: { reply in
            g_bus_get(G_BUS_TYPE_SYSTEM, cancellable.pointer, readyCallback, reply.userData)
        }
        g_dbus_connection_set_exit_on_close(made.pointer, gboolean(0))
        connection = made
        return made
    }
}

/// An owned `GDBusConnection`.
///
/// Unchecked: the pointer never changes, and its reference count and calls are safe from any thread.
private final class BusConnection: @unchecked Sendable {
    let pointer: OpaquePointer

    init(taking pointer: OpaquePointer) { self.pointer = pointer }

    deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }
}

extension SystemBus.Fault {
    /// Takes and frees an error of GLib.
    fileprivate init(taking failure: UnsafeMutablePointer<GError>?) {
        guard let failure else {
            self.init(name: nil, cause: "no answer")
            return
        }
        let name = g_dbus_error_get_remote_error(failure)
        let text = name.map { String(cString: $0) }
        g_free(name)
        self.init(name: text, cause: GErrorText(taking: failure)?.text ?? "no answer")
    }
}
