// SPDX-License-Identifier: Apache-2.0

internal import CWhorlGLib
internal import Glibc
internal import WhorlSupport

extension SystemBus {
    /// Connects to the system bus.
    ///
    /// Messages from the bus pass through a ``BusRelay``, which drops those that would take up too much memory.
    ///
    /// - Parameter takesDescriptors: Whether replies may contain descriptors. Any other message that contains
    ///   descriptors is dropped, and its descriptors are closed on a separate thread.
    /// - Returns: The connection, which already has its unique name on the bus.
    /// - Throws: The reason why the bus is not available.
    func opened(takesDescriptors: Bool) async throws(Fault) -> BusConnection {
        let bus = try await stream()
        // GLib's own authentication would request descriptors on every Unix socket.
        try await BusAuthentication(bus, takesDescriptors: takesDescriptors).run()
        let stream = try relayed(bus, takesDescriptors)
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
                G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
                nil,
                cancellable.pointer,
                readyCallback,
                reply.userData
            )
        }
        g_dbus_connection_set_exit_on_close(made.pointer, gboolean(0))
        return made
    }

    /// Returns the stream on GLib's side of a relay.
    private func relayed(_ bus: BusStream, _ takesDescriptors: Bool) throws(Fault) -> BusStream {
        let end = BusRelay.start(at: bus.socket, takesDescriptors: takesDescriptors, ownedBy: bus)
        guard let end else {
            throw Fault(name: nil, cause: "no threads or descriptors are left")
        }
        var failure: UnsafeMutablePointer<GError>?
        guard let socket = g_socket_new_from_fd(end, &failure) else {
            close(end)
            throw Fault(taking: failure)
        }
        // The connection retains the socket, which closes its descriptor.
        defer { g_object_unref(socket) }
        guard let connection = g_socket_connection_factory_create_connection(socket) else {
            throw Fault(name: nil, cause: "GLib cannot create a connection for the socket")
        }
        return BusStream(
            taking: UnsafeMutableRawPointer(connection).assumingMemoryBound(to: GIOStream.self)
        )
    }

    /// Connects to the system bus without authenticating.
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
/// Unchecked: the pointer never changes, and any thread can safely retain, release and call the connection.
final class BusConnection: @unchecked Sendable {
    let pointer: OpaquePointer

    init(taking pointer: OpaquePointer) { self.pointer = pointer }

    deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }
}

/// An owned `GIOStream` to the bus.
///
/// Unchecked: the pointer never changes, and any thread can safely retain and release the stream.
private final class BusStream: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GIOStream>

    init(taking pointer: UnsafeMutablePointer<GIOStream>) { self.pointer = pointer }

    /// The socket, which stays open for the lifetime of this value.
    var socket: CInt {
        let connection = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GSocketConnection.self)
        return g_socket_get_fd(g_socket_connection_get_socket(connection))
    }

    deinit { g_object_unref(pointer) }
}

/// Authenticates a connection to the bus with the credentials that the kernel reports, and negotiates whether
/// descriptors may be passed.
///
/// Source: D-Bus Specification, "Authentication Protocol", EXTERNAL.
private struct BusAuthentication: Sendable {
    private let stream: BusStream
    private let takesDescriptors: Bool
    /// The time limit for replies from the bus, in milliseconds.
    private static let patience: CInt = 25_000
    /// The maximum length of a reply from the bus, in bytes.
    private static let longestLine = 512

    init(_ stream: BusStream, takesDescriptors: Bool) {
        self.stream = stream
        self.takesDescriptors = takesDescriptors
    }

    /// Authenticates as this process's user on a separate thread.
    func run() async throws(SystemBus.Fault) {
        let fault: SystemBus.Fault? = await withCheckedContinuation { continuation in
            let isStarted = startThread("bus-login") { continuation.resume(returning: attempt()) }
            if !isStarted {
                continuation.resume(returning: SystemBus.Fault(name: nil, cause: "no threads are left"))
            }
        }
        if let fault { throw fault }
    }

    private func attempt() -> SystemBus.Fault? {
        let socket = stream.socket
        let user = String(geteuid()).utf8.map { String($0, radix: 16) }.joined()
        guard send("\0AUTH EXTERNAL \(user)\r\n", to: socket), line(from: socket)?.hasPrefix("OK ") == true
        else {
            return SystemBus.Fault(name: nil, cause: "the bus rejected this user")
        }
        if takesDescriptors {
            guard send("NEGOTIATE_UNIX_FD\r\n", to: socket), line(from: socket) == "AGREE_UNIX_FD" else {
                return SystemBus.Fault(name: nil, cause: "the bus does not pass descriptors")
            }
        }
        guard send("BEGIN\r\n", to: socket) else {
            return SystemBus.Fault(name: nil, cause: "the bus closed the connection")
        }
        return nil
    }

    private func send(_ text: String, to socket: CInt) -> Bool {
        // This few bytes always fit into the buffer of a newly connected socket.
        Glibc.send(socket, text, text.utf8.count, CInt(MSG_NOSIGNAL)) == text.utf8.count
    }

    /// Returns the next line that the bus sends, without its line ending.
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
