// SPDX-License-Identifier: Apache-2.0

internal import CWhorlGLib
internal import Glibc

/// A connection for calls to other services over the system D-Bus.
///
/// The connection is opened at the first call and reopened after the bus has restarted. Unlike GLib's default, losing
/// the connection does not end the process. The connection does not accept descriptors, because anyone on the bus can
/// send one in a signal to any connection. GLib closes such a descriptor on the single thread that reads all
/// connections, and that can take minutes.
package actor SystemBus {
    /// The bus of this process.
    package static let shared = SystemBus()
    /// The bus, over a separate connection, for objects that this process serves and for queries on behalf of their
    /// clients.
    ///
    /// With a separate connection, clients cannot delay other calls.
    package static let serving = SystemBus()
    /// The bus for questions that the user may have to answer.
    ///
    /// They can take minutes, but do not delay other calls.
    package static let asking = SystemBus()

    /// The maximum number of unanswered calls.
    ///
    /// The bus allows 128 per connection.
    private static let mostCalls = 96

    /// A failed call.
    package struct Fault: Error, Sendable, Hashable {
        /// The error's name on the bus, such as `org.freedesktop.login1.NoSessionForPID`, or `nil` if the bus sent
        /// none.
        package let name: String?
        /// The cause, as reported by GLib or the service.
        package let cause: String

        package init(name: String?, cause: String) {
            self.name = name
            self.cause = cause
        }
    }

    /// An object to call.
    package struct Target: Sendable, Hashable {
        /// The name of the service on the bus.
        package var service: String
        package var path: String

        package init(_ service: String, _ path: String) {
            self.service = service
            self.path = path
        }
    }

    private var connection: BusConnection?
    private var running = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private init() {}

    /// The executor of the GLib thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        GLibExecutor.shared.asUnownedSerialExecutor()
    }

    /// Calls a method and waits for the reply.
    ///
    /// - Parameters:
    ///   - method: The qualified name, such as `org.freedesktop.login1.Manager.GetSessionByPID`.
    ///   - target: The service and its object.
    ///   - parameters: A tuple in GVariant's text format, which must contain only fixed words and numbers.
    ///   - seconds: The timeout.
    /// - Returns: The tuple in the reply.
    /// - Throws: The service's error, or the reason why there was no reply.
    package func call(
        _ method: String,
        of target: Target,
        _ parameters: String,
        within seconds: Int32 = 25
    ) async throws(Fault) -> BusValue {
        try await answer(method, of: target, parameters, within: seconds, over: try await connected()).0
    }

    /// Calls a method that returns a descriptor, over a connection that is opened for this call only.
    ///
    /// - Returns: The descriptor, which is close-on-exec and which the caller must close.
    /// - Throws: The errors of ``call(_:of:_:within:)``, or an error if the reply does not contain a descriptor.
    package func descriptor(
        from method: String,
        of target: Target,
        _ parameters: String,
        within seconds: Int32 = 25
    ) async throws(Fault) -> CInt {
        let connection = try await opened(takesDescriptors: true)
        defer { g_dbus_connection_close(connection.pointer, nil, nil, nil) }
        let (_, descriptor) = try await answer(
            method,
            of: target,
            parameters,
            within: seconds,
            over: connection
        )
        guard let descriptor else { throw Fault(name: nil, cause: "\(method) returned no descriptor") }
        return descriptor
    }

    /// Subscribes to a signal for the lifetime of the process.
    ///
    /// - Parameters:
    ///   - signal: The qualified name, such as `org.freedesktop.login1.Manager.PrepareForSleep`.
    ///   - target: The service and the object that sends the signal.
    ///   - body: A function that receives each signal's tuple on the GLib thread.
    /// - Throws: The reason why the bus is not available.
    package func follow(
        _ signal: String,
        of target: Target,
        _ body: @escaping @Sendable (BusValue) -> Void
    ) async throws(Fault) {
        try await follow(signal, from: target.service, at: target.path) { _, value in body(value) }
    }

    /// Subscribes to a signal from all of a service's objects for the lifetime of the process.
    ///
    /// - Parameters:
    ///   - signal: The qualified name.
    ///   - service: The name of the service on the bus.
    ///   - body: A function that receives each signal's object path and tuple on the GLib thread.
    /// - Throws: The reason why the bus is not available.
    package func followAll(
        _ signal: String,
        from service: String,
        _ body: @escaping @Sendable (_ path: String, BusValue) -> Void
    ) async throws(Fault) {
        try await follow(signal, from: service, at: nil, body)
    }

    private func follow(
        _ signal: String,
        from service: String,
        at path: String?,
        _ body: @escaping @Sendable (String, BusValue) -> Void
    ) async throws(Fault) {
        let (interface, member) = try split(signal)
        let connection = try await connected()
        g_dbus_connection_signal_subscribe(
            connection.pointer,
            service,
            interface,
            member,
            path,
            nil,
            G_DBUS_SIGNAL_FLAGS_NONE,
            { _, _, path, _, _, parameters, data in
                guard let data, let parameters, let path else { return }
                Unmanaged<SignalBody>.fromOpaque(data).takeUnretainedValue()
                    .body(String(cString: path), BusValue(parameters))
            },
            Unmanaged.passRetained(SignalBody(body)).toOpaque(),
            { data in data.map { Unmanaged<SignalBody>.fromOpaque($0).release() } }
        )
    }

    /// Returns the server for this process's objects on the bus.
    ///
    /// - Throws: The reason why the bus is not available.
    package func server() async throws(Fault) -> BusServer { BusServer(try await connected()) }

    /// Splits a qualified name into the interface and the member.
    private func split(_ name: String) throws(Fault) -> (String, String) {
        guard let dot = name.lastIndex(of: ".") else {
            throw Fault(name: nil, cause: "\(name) is not a qualified method name")
        }
        return (String(name[..<dot]), String(name[name.index(after: dot)...]))
    }

    private func answer(
        _ method: String,
        of target: Target,
        _ parameters: String,
        within seconds: Int32,
        over connection: BusConnection
    ) async throws(Fault) -> (BusValue, CInt?) {
        let (interface, member) = try split(method)
        await begin()
        defer { end() }
        var failure: UnsafeMutablePointer<GError>?
        guard let tuple = g_variant_parse(nil, parameters, nil, nil, &failure) else {
            throw Fault(taking: failure)
        }
        defer { g_variant_unref(tuple) }
        let cancellable = Cancellable()
        return try await bridge(cancellable) { result -> Result<(BusValue, CInt?), Fault> in
            var failure: UnsafeMutablePointer<GError>?
            var files: UnsafeMutablePointer<GUnixFDList>?
            let answer = g_dbus_connection_call_with_unix_fd_list_finish(
                connection.pointer,
                &files,
                result,
                &failure
            )
            defer { if let files { g_object_unref(files) } }
            guard let answer else { return .failure(Fault(taking: failure)) }
            defer { g_variant_unref(answer) }
            return .success((BusValue(answer), firstDescriptor(files)))
        } start: { reply in
            g_dbus_connection_call_with_unix_fd_list(
                connection.pointer,
                target.service,
                target.path,
                interface,
                member,
                tuple,
                nil,
                G_DBUS_CALL_FLAGS_NONE,
                seconds.multipliedReportingOverflow(by: 1000).partialValue,
                nil,
                cancellable.pointer,
                readyCallback,
                reply.userData
            )
        }
    }

    /// Waits until another call may be made.
    private func begin() async {
        guard running >= Self.mostCalls else { return running += 1 }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Passes the slot of a finished call on to the next waiting call.
    private func end() {
        guard !waiting.isEmpty else { return running -= 1 }
        waiting.removeFirst().resume()
    }

    private func connected() async throws(Fault) -> BusConnection {
        if let connection, g_dbus_connection_is_closed(connection.pointer) == 0 { return connection }
        let made = try await opened(takesDescriptors: false)
        connection = made
        return made
    }
}

/// Returns a close-on-exec duplicate of the first descriptor in a reply, or `nil` if the reply has none.
private func firstDescriptor(_ files: UnsafeMutablePointer<GUnixFDList>?) -> CInt? {
    guard let files else { return nil }
    var failure: UnsafeMutablePointer<GError>?
    let number = g_unix_fd_list_get(files, 0, &failure)
    g_clear_error(&failure)
    return number >= 0 ? number : nil
}

private final class SignalBody: Sendable {
    let body: @Sendable (String, BusValue) -> Void
    init(_ body: @escaping @Sendable (String, BusValue) -> Void) { self.body = body }
}

extension SystemBus.Fault {
    /// Takes and frees a GLib error.
    init(taking failure: UnsafeMutablePointer<GError>?) {
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
