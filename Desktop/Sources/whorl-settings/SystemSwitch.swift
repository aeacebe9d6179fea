// SPDX-License-Identifier: Apache-2.0

import CSwitches
import WhorlSupport

/// A switch for all users of the computer, as listed in `switches.h`.
enum SystemSwitch: Sendable, Hashable {
    /// A PAM service, whose own file is changed.
    case service(kind: String, name: String)
    /// A profile of pam-auth-update, which changes the files that all services include.
    case profile(kind: String, name: String)

    /// The profile that lets logins unlock keyrings.
    static let keyring = Self.profile(kind: "keyring", name: "whorl-keyring")

    /// All switches, in the order in which they are shown.
    static let all: [SystemSwitch] = {
        let profiles = listed(whorl_profile) { .profile(kind: $0, name: $1) }
        let services = listed(whorl_service) { .service(kind: $0, name: $1) }
        return profiles.filter { $0 != keyring } + services + [keyring]
    }()

    /// Returns the switches of a table, whose entries are read by their number until there are no more.
    private static func listed(
        _ entry: (Int) -> UnsafePointer<whorl_switch>?,
        as place: (String, String) -> SystemSwitch
    ) -> [SystemSwitch] {
        var all: [SystemSwitch] = []
        while let next = entry(all.count)?.pointee {
            all.append(place(String(cString: next.kind), String(cString: next.name)))
        }
        return all
    }

    private var kind: String {
        switch self {
        case .service(let kind, _), .profile(let kind, _): kind
        }
    }

    /// The action of polkit that allows changing it.
    var action: String { "io.whorl.settings.\(kind)" }

    /// The helper's arguments that turn it on or off.
    func arguments(on isOn: Bool) -> [String] {
        let words = [kind, isOn ? "on" : "off"]
        return if case .service(_, let name) = self { words + [name] } else { words }
    }

    /// The command that turns it on or off in a terminal.
    func command(on isOn: Bool) -> String {
        switch self {
        case .service(_, let name): "sudo whorl pam \(isOn ? "add" : "remove") \(name)"
        case .profile(_, let name): "sudo pam-auth-update \(isOn ? "--enable" : "--disable") \(name)"
        }
    }

    var title: String {
        switch self {
        case .profile("keyring", _): translated("Keyrings at login, for all users")
        case .profile: translated("All programs")
        case .service(_, "login"): translated("Login on a console")
        case .service(_, "gdm-password"): translated("Login and screen lock (%1$@)", with: "GNOME")
        case .service(_, "lightdm"): translated("Login and screen lock (%1$@)", with: "LightDM")
        case .service(_, "kde-fingerprint"): translated("Screen lock (%1$@)", with: "KDE")
        case .service("login", let name): translated("Login (%1$@)", with: name)
        case .service("screen-lock", let name): translated("Screen lock (%1$@)", with: name)
        case .service("administrator", _): translated("Administrator prompts")
        case .service(_, let name): name
        }
    }
}
