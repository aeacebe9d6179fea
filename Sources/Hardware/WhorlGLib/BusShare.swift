// SPDX-License-Identifier: Apache-2.0

internal import CWhorlGLib
internal import Synchronization

/// Limits the number of unanswered D-Bus calls of each client.
///
/// Calls beyond a client's share are refused on the connection's GLib thread, before they wait for the thread that
/// replies. A client that calls endlessly therefore cannot delay other clients. Calls with an argument that is not a
/// single value are refused as well, because GLib unpacks them into many times their size, and they would occupy that
/// memory while they wait. No object here takes such an argument.
final class BusShare: Sendable {
    /// The maximum number of unanswered calls per client.
    static let mostCalls = 32
    /// The error for calls beyond the limit.
    static let refusal = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// The error for arguments that no object accepts.
    private static let wrongArguments = "org.freedesktop.DBus.Error.InvalidSignature"
    /// The maximum number of tracked clients.
    ///
    /// The bus itself allows each user 256 connections.
    private static let mostClients = 16_384

    private let waiting = Mutex<[String: Int]>([:])

    /// The number of tracked clients.
    var clientCount: Int { waiting.withLock(\.count) }

    /// Counts a call, or returns `false` if the client has reached its limit.
    func take(_ client: String) -> Bool {
        waiting.withLock { waiting in
            let count = waiting[client] ?? 0
            guard count < Self.mostCalls else { return false }
            // Drops clients that left without a reply, together with all others.
            if waiting.count >= Self.mostClients { waiting = [:] }
            waiting[client] = count + 1
            return true
        }
    }

    /// Stops counting a call that was answered or that expects no reply.
    func end(_ client: String) {
        waiting.withLock { waiting in
            guard let count = waiting[client] else { return }
            waiting[client] = count > 1 ? count - 1 : nil
        }
    }

    /// Counts the messages of a connection for the lifetime of the connection.
    func watch(_ connection: BusConnection) {
        g_dbus_connection_add_filter(
            connection.pointer,
            { connection, message, isIncoming, data in
                guard let connection, let message, let data else { return message }
                let share = Unmanaged<BusShare>.fromOpaque(data).takeUnretainedValue()
                return isIncoming == 0
                    ? share.passOut(message) : share.passIn(message, over: connection)
            },
            Unmanaged.passRetained(self).toOpaque(),
            { data in data.map { Unmanaged<BusShare>.fromOpaque($0).release() } }
        )
    }

    /// Passes on or refuses an incoming message.
    private func passIn(_ message: OpaquePointer, over connection: OpaquePointer) -> OpaquePointer? {
        guard g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_METHOD_CALL else {
            return message
        }
        let client = g_dbus_message_get_sender(message).map { String(cString: $0) } ?? ""
        let wantsAnswer = !Self.wantsNoAnswer(message)
        // GLib answers these itself, and does not report when it has handled one that expects no reply.
        let isGLibs =
            g_dbus_message_get_interface(message).map { String(cString: $0) }?
            .hasPrefix("org.freedesktop.DBus.") ?? true
        let isUnpacked = Self.isUnpacked(message)
        if !isUnpacked, wantsAnswer || !isGLibs, take(client) { return message }
        if wantsAnswer {
            let (error, sentence) =
                isUnpacked
                ? (Self.wrongArguments, "No method here takes arrays, structures or variants.")
                : (Self.refusal, "This client has reached its limit of unanswered calls.")
            let answer = g_dbus_message_new_method_error_literal(message, error, sentence)
            // Fails if the connection has ended, and then no one waits for the reply.
            g_dbus_connection_send_message(connection, answer, G_DBUS_SEND_MESSAGE_FLAGS_NONE, nil, nil)
            answer.map { g_object_unref(UnsafeMutableRawPointer($0)) }
        }
        g_object_unref(UnsafeMutableRawPointer(message))
        return nil
    }

    /// Passes on an outgoing message.
    private func passOut(_ message: OpaquePointer) -> OpaquePointer? {
        let type = g_dbus_message_get_message_type(message)
        guard type == G_DBUS_MESSAGE_TYPE_METHOD_RETURN || type == G_DBUS_MESSAGE_TYPE_ERROR,
            let client = g_dbus_message_get_destination(message)
        else { return message }
        // Refused calls were not counted.
        let error = g_dbus_message_get_error_name(message).map { String(cString: $0) }
        if error != Self.refusal, error != Self.wrongArguments { end(String(cString: client)) }
        return message
    }

    /// Returns whether a message contains an array, a structure or a variant.
    private static func isUnpacked(_ message: OpaquePointer) -> Bool {
        guard let signature = g_dbus_message_get_signature(message) else { return false }
        return String(cString: signature).utf8.contains { "av({".utf8.contains($0) }
    }

    /// Returns whether the sender of a call does not expect a reply.
    static func wantsNoAnswer(_ message: OpaquePointer?) -> Bool {
        g_dbus_message_get_flags(message).rawValue & G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED.rawValue != 0
    }
}
