// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc

/// The session's screen and the computer's sleep, as reported by logind.
@MainActor
final class Screen {
    private static let manager = BusPlace(
        owner: "org.freedesktop.login1",
        path: "/org/freedesktop/login1",
        interface: "org.freedesktop.login1.Manager"
    )
    private static let session = "org.freedesktop.login1.Session"

    /// Whether the screen is locked; `false` where nothing reports it.
    private(set) var isLocked = false
    private let bus: Bus?
    /// Whether the computer is about to sleep, or sleeps.
    private var sleeps = false
    /// Called when the screen has been locked or unlocked, and when the computer falls asleep or wakes up.
    private let onChange: @MainActor () -> Void
    /// The descriptor that delays sleep until the keyring is locked.
    private var delay: Int32?

    /// Whether no prompt may be visible.
    var hidesPrompts: Bool { isLocked || sleeps }

    init(onChange: @escaping @MainActor () -> Void) {
        self.onChange = onChange
        do throws(BusFault) {
            bus = try Bus(G_BUS_TYPE_SYSTEM)
        } catch {
            Program.write("Cannot find out whether the screen is locked: \(error.message)")
            bus = nil
        }
        watchSession()
    }

    private func watchSession() {
        // The session of a unit of the user's manager is the one on the user's screen.
        bus?.call(Self.manager, "GetSession", [.text("auto")]) { [self] reply in
            switch reply {
            case .success(let value):
                guard let path = value[0]?.path else { return }
                watch(path)
            case .failure(let fault):
                Program.write("Cannot find out whether the screen is locked: \(fault.message)")
            }
        }
    }

    private func watch(_ path: String) {
        let properties = BusPlace(
            owner: Self.manager.owner,
            path: path,
            interface: "org.freedesktop.DBus.Properties"
        )
        bus?.onSignal(properties, "PropertiesChanged") { [self] parameters in
            if let isLocked = parameters[1]?["LockedHint"]?.flag { set(isLocked) }
        }
        bus?.call(properties, "Get", [.text(Self.session), .text("LockedHint")]) { [self] reply in
            if case .success(let value) = reply, let isLocked = value[0]?.content.flag { set(isLocked) }
        }
    }

    private func set(_ isLocked: Bool) {
        guard isLocked != self.isLocked else { return }
        self.isLocked = isLocked
        onChange()
    }

    /// Watches for sleep.
    ///
    /// - Parameter body: Called before the computer sleeps, which waits until the function has called its argument, but
    ///   no longer than logind allows; `nil` if nothing is done before.
    func watchSleep(before body: (@MainActor (_ done: @escaping @MainActor () -> Void) -> Void)?) {
        if body != nil { takeDelay() }
        bus?.onSignal(Self.manager, "PrepareForSleep") { [self] parameters in
            guard let begins = parameters[0]?.flag else { return }
            sleeps = begins
            onChange()
            if begins { body? { self.endDelay() } } else if body != nil { takeDelay() }
        }
    }

    private func endDelay() {
        if let delay { close(delay) }
        delay = nil
    }

    private func takeDelay() {
        guard delay == nil, let bus else { return }
        let words = ["sleep", "Whorl", "Lock the keyring", "delay"].map { BusContent.text($0) }
        bus.callForDescriptor(Self.manager, "Inhibit", words) { [self] descriptor in
            endDelay()
            delay = descriptor
            if descriptor == nil { Program.write("Cannot delay sleep until the keyring is locked.") }
        }
    }
}
