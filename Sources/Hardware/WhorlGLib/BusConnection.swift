// SPDX-License-Identifier: Apache-2.0

internal import CWhorlGLib
internal import Glibc
internal import WhorlSupport

extension SystemBus {
    /// Connects to the system's bus.
    ///
    /// - Parameter takesDescriptors: Whether messages may bring descriptors. Those of a message that is no answer are closed
    ///   on a thread of their own, and the message is dropped.
    /// - Returns: The connection, which has its name on the bus.
    /// - Throws: the reason for which there is no bus.
    func opened(takesDescriptors: Bool) async throws(Fault) -> BusConnection {
        let stream = try await stream()
        var flags = G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue
        if takesDescriptors {
            flags |= G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
        } else {
            // GLib would ask the bus for descriptors.
            try await BusAuthentication(stream).run()
        }
        let cancellable = Cancellable()
        let made = try await bridge(cancellable) { result -> Result<BusConnection, Fault> in
            var failure: UnsafeMutablePointer<GError>?
            guard let pointer = g_dbus_connection_new_finish(result, &failure) else {
                return .failure(Fault(taking: failure))
            }
            return .success(BusConnection(taking: pointer))
        } start: { reply in
            g_dbus_connection_new(
                stream.pointer,
                nil,
                GDBusConnectionFlags(flags),
                nil,
                cancellable.pointer,
                readyCallback,
                reply.userData
            )
        }
        g_dbus_connection_set_exit_on_close(made.pointer, gboolean(0))
        if takesDescriptors { g_dbus_connection_add_filter(made.pointer, dropUnaskedDescriptors, nil, nil) }
        return made
    }

    /// Connects to the system's bus, without authentication yet.
    private func stream() async throws(Fault) -> BusStream {
        var failure: UnsafeMutablePointer<GError>?
        guard let address = g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SYSTEM, nil, &failure) else {
            throw Fault(taking: failure)
        }
        defer { g_free(address) }
        let cancellable = Cancellable()
        return try await bridge(cancellable) { result -> Result<BusStream, Fault> in
            var failure: UnsafeMutablePointer<GError>?
            guard let pointer = g_dbus_address_get_stream_finish(result, nil, &failure) else {
                return .failure(Fault(taking: failure))
            }
            return .success(BusStream(taking: pointer))
        } start: { reply in
            g_dbus_address_get_stream(address, cancellable.pointer, readyCallback, reply.userData)
        }
    }
}

/// An owned `GDBusConnection`.
///
/// Unchecked: the pointer never changes, and its reference count and calls are safe from any thread.
final class BusConnection: @unchecked Sendable {
    let pointer: OpaquePointer

    init(taking pointer: OpaquePointer) { self.pointer = pointer }

    deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }
}

/// An owned `GIOStream` to the bus.
///
/// Unchecked: the pointer never changes, and its reference count is safe from any thread.
private final class BusStream: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GIOStream>

    init(taking pointer: UnsafeMutablePointer<GIOStream>) { self.pointer = pointer }

    deinit { g_object_unref(pointer) }
}

/// The authentication of a connection to the bus by the kernel's word, without descriptors.
///
/// Source: D-Bus Specification, "Authentication Protocol", EXTERNAL. GLib's own asks for descriptors on every Unix socket.
private struct BusAuthentication: Sendable {
    private let stream: BusStream
    /// The longest wait for the bus, in milliseconds.
    private static let patience: CInt = 25_000
    /// The most bytes that the bus answers.
    private static let longestLine = 512

    init(_ stream: BusStream) { self.stream = stream }

    /// Authenticates as this process's user, on a thread of its own.
    func run() async throws(SystemBus.Fault) {
        let fault: SystemBus.Fault? = await withCheckedContinuation { continuation in
            let isStarted = startThread("bus-login") { continuation.resume(returning: attempt()) }
            if !isStarted {
                continuation.resume(returning: SystemBus.Fault(name: nil, cause: "no thread is left"))
            }
        }
        if let fault { throw fault }
    }

    private func attempt() -> SystemBus.Fault? {
        // The socket is the stream's, which lives as long as this value.
        let connection = UnsafeMutableRawPointer(stream.pointer).assumingMemoryBound(
            to: GSocketConnection.self
        )
        let socket = g_socket_get_fd(g_socket_connection_get_socket(connection))
        let user = String(geteuid()).utf8.map { String($0, radix: 16) }.joined()
        guard send("\0AUTH EXTERNAL \(user)\r\n", to: socket), let answer = line(from: socket),
            answer.hasPrefix("OK "),
            send("BEGIN\r\n", to: socket)
        else { return SystemBus.Fault(name: nil, cause: "the bus does not let this user in") }
        return nil
    }

    private func send(_ text: String, to socket: CInt) -> Bool {
        // So few bytes fit into the buffer of a socket that was just connected.
        Glibc.send(socket, text, text.utf8.count, CInt(MSG_NOSIGNAL)) == text.utf8.count
    }

    /// Returns the line that the bus answers, without its end.
    private func line(from socket: CInt) -> String? {
        var bytes: [UInt8] = []
        while !bytes.reversed().starts(with: [0x0A, 0x0D]) {
            var ready = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            var byte: UInt8 = 0
            guard bytes.count < Self.longestLine, poll(&ready, 1, Self.patience) > 0,
                recv(socket, &byte, 1, 0) == 1
            else { return nil }
            bytes.append(byte)
        }
        return String(validating: bytes.dropLast(2), as: UTF8.self)
    }
}

/// A `GDBusMessageFilterFunction`, which GLib calls on the thread that reads all connections: drops what brings descriptors
/// and is no answer.
private let dropUnaskedDescriptors: GDBusMessageFilterFunction = { _, message, isIncoming, _ in
    guard isIncoming != 0, let message, let list = g_dbus_message_get_unix_fd_list(message),
        g_dbus_message_get_message_type(message) != G_DBUS_MESSAGE_TYPE_METHOD_RETURN
    else { return message }
    var count: gint = 0
    if let stolen = g_unix_fd_list_steal_fds(list, &count) {
        let descriptors = Array(UnsafeBufferPointer(start: stolen, count: Int(count)))
        g_free(stolen)
        // Without a thread they stay open: closing one here might keep everyone waiting.
        _ = startThread("bus-descriptors") { for descriptor in descriptors { close(descriptor) } }
    }
    g_object_unref(UnsafeMutableRawPointer(message))
    return nil
}
