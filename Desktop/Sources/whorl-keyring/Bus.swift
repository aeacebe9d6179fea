// SPDX-License-Identifier: Apache-2.0

import CGLib

/// A connection to a message bus.
///
/// GLib calls back on the main thread.
@MainActor
final class Bus {
    /// The time limit for replies from the bus itself, in milliseconds.
    private static let patience: Int32 = 2_000

    let connection: OpaquePointer

    /// Connects to a bus, which ends the process if it shuts down.
    init(_ type: GBusType) throws(BusFault) {
        var failure: UnsafeMutablePointer<GError>?
        guard let pointer = g_bus_get_sync(type, nil, &failure) else { throw BusFault(taking: failure) }
        connection = pointer
    }

    /// Calls a method of another program, without starting the program.
    ///
    /// - Parameters:
    ///   - place: The program and its object.
    ///   - method: The method.
    ///   - parameters: The arguments.
    ///   - seconds: The time limit for the reply.
    ///   - then: Called with the reply.
    func call(
        _ place: BusPlace,
        _ method: String,
        _ parameters: [BusContent] = [],
        within seconds: Int32 = 5,
        then: @escaping @MainActor (Result<BusValue, BusFault>) -> Void
    ) {
        let replied: GAsyncReadyCallback = { source, result, data in
            guard let source, let data else { return }
            let then = Unmanaged<Reply>.fromOpaque(data).takeRetainedValue()
            var failure: UnsafeMutablePointer<GError>?
            let value = g_dbus_connection_call_finish(OpaquePointer(source), result, &failure)
            let outcome: Result<BusValue, BusFault> =
                value.map { .success(BusValue(taking: $0)) } ?? .failure(BusFault(taking: failure))
            nonisolated(unsafe) let handed = outcome
            MainActor.assumeIsolated { then.body(handed) }
        }
        g_dbus_connection_call(
            connection,
            place.owner,
            place.path,
            place.interface,
            method,
            BusContent.tuple(parameters),
            nil,
            G_DBUS_CALL_FLAGS_NO_AUTO_START,
            seconds * 1_000,
            nil,
            replied,
            Unmanaged.passRetained(Reply(then)).toOpaque()
        )
    }

    /// Calls a method that returns a descriptor, which the caller closes; `nil` if it fails.
    func callForDescriptor(
        _ place: BusPlace,
        _ method: String,
        _ parameters: [BusContent],
        then: @escaping @MainActor (Int32?) -> Void
    ) {
        let replied: GAsyncReadyCallback = { source, result, data in
            guard let source, let data else { return }
            let then = Unmanaged<DescriptorReply>.fromOpaque(data).takeRetainedValue()
            var descriptors: UnsafeMutablePointer<GUnixFDList>?
            let bus = OpaquePointer(source)
            let reply = g_dbus_connection_call_with_unix_fd_list_finish(bus, &descriptors, result, nil)
            let handle = reply.flatMap { BusValue(taking: $0)[0]?.handle }
            var descriptor: Int32?
            if let descriptors {
                // A copy, which is closed when another program is run.
                descriptor = handle.map { g_unix_fd_list_get(descriptors, $0, nil) }
                g_object_unref(descriptors)
            }
            let found = descriptor.flatMap { $0 >= 0 ? $0 : nil }
            MainActor.assumeIsolated { then.body(found) }
        }
        g_dbus_connection_call_with_unix_fd_list(
            connection,
            place.owner,
            place.path,
            place.interface,
            method,
            BusContent.tuple(parameters),
            nil,
            G_DBUS_CALL_FLAGS_NO_AUTO_START,
            -1,
            nil,
            nil,
            replied,
            Unmanaged.passRetained(DescriptorReply(then)).toOpaque()
        )
    }

    /// Calls a method of the bus itself, which replies immediately.
    func ask(_ method: String, _ parameters: [BusContent]) throws(BusFault) -> BusValue {
        var failure: UnsafeMutablePointer<GError>?
        let value = g_dbus_connection_call_sync(
            connection,
            BusPlace.bus.owner,
            BusPlace.bus.path,
            BusPlace.bus.interface,
            method,
            BusContent.tuple(parameters),
            nil,
            G_DBUS_CALL_FLAGS_NONE,
            Self.patience,
            nil,
            &failure
        )
        guard let value else { throw BusFault(taking: failure) }
        return BusValue(taking: value)
    }

    /// Calls a function for each signal of an object, as long as the process runs.
    func onSignal(_ place: BusPlace, _ signal: String, _ body: @escaping @MainActor (BusValue) -> Void) {
        let emitted: GDBusSignalCallback = { _, _, _, _, _, parameters, data in
            guard let parameters, let data else { return }
            let handler = Unmanaged<SignalHandler>.fromOpaque(data).takeUnretainedValue()
            nonisolated(unsafe) let value = BusValue(parameters)
            MainActor.assumeIsolated { handler.body(value) }
        }
        g_dbus_connection_signal_subscribe(
            connection,
            place.owner,
            place.interface,
            signal,
            place.path,
            nil,
            G_DBUS_SIGNAL_FLAGS_NONE,
            emitted,
            Unmanaged.passRetained(SignalHandler(body)).toOpaque(),
            nil
        )
    }

    /// Sends all messages.
    func flush() { g_dbus_connection_flush_sync(connection, nil, nil) }
}

/// An object of a program on the bus, with one of its interfaces.
struct BusPlace: Sendable {
    let owner: String
    let path: String
    let interface: String

    /// The bus itself.
    static let bus = BusPlace(
        owner: "org.freedesktop.DBus",
        path: "/org/freedesktop/DBus",
        interface: "org.freedesktop.DBus"
    )
}

/// An error of a call, or of the bus.
struct BusFault: Error {
    let message: String

    /// Takes and frees GLib's error.
    init(taking error: UnsafeMutablePointer<GError>?) {
        message = error?.pointee.message.map { String(cString: $0) } ?? "no message"
        if let error { g_error_free(error) }
    }
}

/// The receiver of a reply, which is called once.
private final class Reply: Sendable {
    let body: @MainActor (Result<BusValue, BusFault>) -> Void

    init(_ body: @escaping @MainActor (Result<BusValue, BusFault>) -> Void) { self.body = body }
}

/// The receiver of a signal.
private final class SignalHandler: Sendable {
    let body: @MainActor (BusValue) -> Void

    init(_ body: @escaping @MainActor (BusValue) -> Void) { self.body = body }
}

/// The receiver of a descriptor, which is called once.
private final class DescriptorReply: Sendable {
    let body: @MainActor (Int32?) -> Void

    init(_ body: @escaping @MainActor (Int32?) -> Void) { self.body = body }
}
