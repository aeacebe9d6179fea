// SPDX-License-Identifier: Apache-2.0

import WhorlService
import WhorlSupport

/// The place of a login and the program that asks, according to PAM.
extension LoginInterface.Verify {
    /// Returns whether the user is, or may be, at another machine, according to PAM.
    ///
    /// In a session, a screen locker may name this machine as the host. Outside any session, servers such as the print
    /// server do so, and every local user can talk to those, as can programs on other machines through a tunnel.
    func isRemote(_ caller: Caller) -> Bool {
        guard let remoteHost, !remoteHost.isEmpty else { return false }
        return remoteHost != "localhost" || caller.asker?.session == nil
    }

    /// Returns whether the PAM service makes the request outside any session and does not specify the user's location.
    ///
    /// Mail, file and VPN servers call PAM for users at other machines, and many do not specify a host. polkit's helper
    /// calls it for an agent's user, and may have passed the agent's process. A program on this machine's own screen
    /// specifies a terminal or is a greeter; some greeters do not have a terminal yet.
    func isForElsewhere(_ caller: Caller) -> Bool {
        guard caller.asker?.session == nil else { return false }
        return service.hasPrefix("polkit") || !(namesTerminal || isGreeter)
    }

    /// Whether the specified terminal belongs to this machine; servers specify their own name instead, such as `ssh`.
    private var namesTerminal: Bool {
        guard let terminal else { return false }
        let isScreen = terminal.first == ":" && terminal.dropFirst().first?.isNumber ?? false
        return isScreen || terminal == "console"
            || ["/dev/", "tty", "pts/"].contains { terminal.hasPrefix($0) }
    }

    private var isGreeter: Bool { isOne(of: Self.greeters) }

    /// Whether the PAM service unlocks screens, which greeters also do.
    var isLocker: Bool { isOne(of: Self.greeters) || isOne(of: Self.lockers) }

    private func isOne(of names: [String]) -> Bool {
        names.contains { service == $0 || service.hasPrefix($0 + "-") }
    }

    private static let greeters = ["gdm", "lightdm", "sddm", "plasmalogin", "greetd", "cosmic-greeter"]

    /// The PAM services of screen lockers, which never include sudo, su and polkit.
    private static let lockers = [
        "kde", "kscreensaver", "gnome-screensaver", "cinnamon-screensaver", "mate-screensaver",
        "xfce4-screensaver",
        "budgie-screensaver", "xscreensaver", "swaylock", "hyprlock", "gtklock", "waylock", "i3lock",
        "xsecurelock",
        "physlock", "vlock", "light-locker",
    ]

    /// The purpose, including PAM's strings, as shown in the journal.
    var purpose: CallPurpose {
        let service = DisplayText.clean(service, limit: 60)
        let place = terminal.map { DisplayText.clean($0, limit: 60) }.flatMap {
            $0.isEmpty ? nil : " on \($0)"
        }
        let action =
            switch (isLocker, keyring == true) {
            case (false, _): "log in as"
            case (true, false): "unlock the screen of"
            case (true, true): "unlock the screen and the keyring of"
            }
        return CallPurpose(
            application: service.isEmpty ? "login" : service,
            text: "\(action) user \(user)\(place ?? "")"
        )
    }
}
