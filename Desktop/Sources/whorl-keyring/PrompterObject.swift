// SPDX-License-Identifier: Apache-2.0

import CGLib

/// The object on the session bus that programs ask for a password or a confirmation.
///
/// Its interface is internal to gnome-keyring and gcr (`gcr-dbus-constants.h`). All programs of the session can call it.
@MainActor
enum PrompterObject {
    static let name = "org.gnome.keyring.SystemPrompter"
    private static let path = "/org/gnome/keyring/Prompter"
    private static let interface = """
        <node><interface name="org.gnome.keyring.internal.Prompter">\
        <method name="BeginPrompting"><arg name="callback" type="o" direction="in"/></method>\
        <method name="PerformPrompt"><arg name="callback" type="o" direction="in"/>\
        <arg name="type" type="s" direction="in"/><arg name="properties" type="a{sv}" direction="in"/>\
        <arg name="exchange" type="s" direction="in"/></method>\
        <method name="StopPrompting"><arg name="callback" type="o" direction="in"/></method>\
        </interface></node>
        """

    /// Serves a prompter on the bus as long as the process runs.
    static func serve(_ prompter: Prompter, on bus: Bus) throws(BusFault) {
        var failure: UnsafeMutablePointer<GError>?
        guard let node = g_dbus_node_info_new_for_xml(interface, &failure) else {
            throw BusFault(taking: failure)
        }
        var table = GDBusInterfaceVTable()
        table.method_call = called
        // GLib copies the table.
        let id = g_dbus_connection_register_object(
            bus.connection,
            path,
            node.pointee.interfaces[0],
            &table,
            Unmanaged.passRetained(prompter).toOpaque(),
            nil,
            &failure
        )
        guard id != 0 else { throw BusFault(taking: failure) }
    }

    /// GLib has checked the types of the arguments.
    private static let called: GDBusInterfaceMethodCallFunc = {
        _,
        sender,
        _,
        _,
        name,
        parameters,
        invocation,
        data in
        guard let sender, let name, let parameters, let invocation, let data else { return }
        let prompter = Unmanaged<Prompter>.fromOpaque(data).takeUnretainedValue()
        let (caller, method) = (String(cString: sender), String(cString: name))
        nonisolated(unsafe) let call = invocation
        nonisolated(unsafe) let arguments = BusValue(parameters)
        MainActor.assumeIsolated {
            do throws(PromptRefusal) {
                let id = try dispatch(method, arguments, from: caller, to: prompter)
                g_dbus_method_invocation_return_value(call, nil)
                // gcr is not ready for an answer before it has the reply.
                prompter.hasReplied(to: id)
            } catch {
                g_dbus_method_invocation_return_dbus_error(call, error.name, error.message)
                // The refused call may have been large.
                prompter.rest()
            }
        }
    }

    private static func dispatch(
        _ method: String,
        _ arguments: BusValue,
        from caller: String,
        to prompter: Prompter
    ) throws(PromptRefusal) -> PromptID {
        guard let size = arguments[0]?.textSize, size <= PromptID.longestPath, let path = arguments[0]?.text
        else {
            throw .invalid("The callback's path is too long.")
        }
        let id = PromptID(caller: caller, path: path)
        switch method {
        case "BeginPrompting": try prompter.begin(id)
        case "PerformPrompt":
            guard let type = arguments[1]?.text, let properties = arguments[2],
                let exchange = arguments[3], let size = exchange.textSize, size <= SecretExchange.longest,
                let text = exchange.text
            else { throw .invalid("The secret exchange is too long.") }
            try prompter.perform(id, type, properties, text)
        case "StopPrompting": prompter.stop(id)
        default: throw .invalid("Unknown method.")
        }
        return id
    }
}

/// The reason why a call is refused.
struct PromptRefusal: Error {
    let name: String
    let message: String

    static func invalid(_ message: String) -> PromptRefusal {
        PromptRefusal(name: "org.freedesktop.DBus.Error.InvalidArgs", message: message)
    }

    static func failed(_ message: String) -> PromptRefusal {
        PromptRefusal(name: "org.freedesktop.DBus.Error.Failed", message: message)
    }

    static func tooMany(_ message: String) -> PromptRefusal {
        PromptRefusal(name: "org.freedesktop.DBus.Error.LimitsExceeded", message: message)
    }
}
