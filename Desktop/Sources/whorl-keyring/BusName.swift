// SPDX-License-Identifier: Apache-2.0

import CGLib

/// The name by which programs find the prompter.
///
/// The prompter replaces one that allows it, such as that of GNOME's shell, which then waits for the name and gets it
/// back when this process ends. It does not allow others to replace it: no other prompter asks for that, and a program
/// that could do so without a trace would show its own window for passwords.
@MainActor
enum BusName {
    /// DBUS_NAME_FLAG_REPLACE_EXISTING and DBUS_NAME_FLAG_DO_NOT_QUEUE (D-Bus Specification, "RequestName").
    private static let flags: UInt32 = 2 | 4
    /// DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER and DBUS_REQUEST_NAME_REPLY_ALREADY_OWNER.
    private static let owned: Set<UInt32> = [1, 4]

    /// Takes a name; returns `false` if its owner does not allow it.
    static func take(_ name: String, on bus: Bus) throws(BusFault) -> Bool {
        let reply = try bus.ask("RequestName", [.text(name), .number(flags)])
        return reply[0]?.number.map(owned.contains) ?? false
    }

    /// Gives a name back to the program that had it, or that waits for it.
    static func giveBack(_ name: String, on bus: Bus) {
        do throws(BusFault) { _ = try bus.ask("ReleaseName", [.text(name)]) } catch {
            // The end of the connection gives the name back as well.
            Program.write("Cannot give back \(name): \(error.message)")
        }
    }

    /// Calls a function when the bus has given the name to another program.
    static func onLoss(of name: String, on bus: Bus, _ body: @escaping @MainActor () -> Void) {
        bus.onSignal(.bus, "NameLost") { parameters in if parameters[0]?.text == name { body() } }
    }
}

/// A watch on a program, which ends with this value.
final class CallerWatch {
    private let id: guint

    /// Calls a function when a program leaves the bus, or soon if it has already left.
    @MainActor
    init(_ caller: String, on bus: Bus, left: @escaping @MainActor () -> Void) {
        let vanished: GBusNameVanishedCallback = { _, _, data in
            guard let data else { return }
            let handler = Unmanaged<LossHandler>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { handler.body() }
        }
        id = g_bus_watch_name_on_connection(
            bus.connection,
            caller,
            G_BUS_NAME_WATCHER_FLAGS_NONE,
            nil,
            vanished,
            Unmanaged.passRetained(LossHandler(left)).toOpaque(),
            { data in if let data { Unmanaged<LossHandler>.fromOpaque(data).release() } }
        )
    }

    deinit { g_bus_unwatch_name(id) }
}

/// The receiver of a program's end.
private final class LossHandler: Sendable {
    let body: @MainActor () -> Void

    init(_ body: @escaping @MainActor () -> Void) { self.body = body }
}
