// SPDX-License-Identifier: Apache-2.0

/// The Secret Service of the keyring's daemon, as far as the prompter needs it.
@MainActor
enum SecretService {
    private static let path = "/org/freedesktop/secrets"
    private static let name = "org.freedesktop.secrets"

    /// The most other keyrings whose labels are read.
    private static let most = 32

    /// Finds out which keyrings are locked.
    ///
    /// - Parameters:
    ///   - daemon: The daemon's unique name, so that no other program can reply.
    ///   - bus: The session bus.
    ///   - then: Called with the result; without a login keyring if the daemon does not reply.
    static func lockedKeyrings(
        at daemon: String,
        on bus: Bus,
        then: @escaping @MainActor (LockedKeyrings) -> Void
    ) {
        let service = BusPlace(owner: daemon, path: path, interface: "org.freedesktop.Secret.Service")
        bus.call(service, "ReadAlias", [.text("login")]) { reply in
            guard case .success(let value) = reply, let login = value[0]?.path else {
                return then(LockedKeyrings())
            }
            read("Locked", of: login, at: daemon, on: bus) { isLocked in
                guard isLocked?.flag == true else { return then(LockedKeyrings()) }
                readOthers(than: login, at: daemon, on: bus) { labels in
                    then(LockedKeyrings(hasLogin: true, otherLabels: labels))
                }
            }
        }
    }

    /// Reads the labels of the other keyrings that are locked.
    private static func readOthers(
        than login: String,
        at daemon: String,
        on bus: Bus,
        then: @escaping @MainActor ([String]) -> Void
    ) {
        read("Collections", of: path, "org.freedesktop.Secret.Service", at: daemon, on: bus) { list in
            let paths = (0..<(list?.count ?? 0)).lazy.compactMap { list?[$0]?.path }.filter { $0 != login }
            readLabels(of: Array(paths.prefix(most)), [], at: daemon, on: bus, then: then)
        }
    }

    /// Reads the labels of keyrings that are locked, one after the other.
    private static func readLabels(
        of paths: [String],
        _ labels: [String],
        at daemon: String,
        on bus: Bus,
        then: @escaping @MainActor ([String]) -> Void
    ) {
        guard let next = paths.last else { return then(labels) }
        let rest = paths.dropLast()
        read("Locked", of: next, at: daemon, on: bus) { isLocked in
            guard isLocked?.flag == true else {
                return readLabels(of: Array(rest), labels, at: daemon, on: bus, then: then)
            }
            read("Label", of: next, at: daemon, on: bus) { label in
                let all = labels + (label?.text.map { [$0] } ?? [])
                readLabels(of: Array(rest), all, at: daemon, on: bus, then: then)
            }
        }
    }

    /// Reads a property of an object of the daemon; `nil` if the daemon does not reply.
    private static func read(
        _ property: String,
        of path: String,
        _ interface: String = "org.freedesktop.Secret.Collection",
        at daemon: String,
        on bus: Bus,
        then: @escaping @MainActor (BusValue?) -> Void
    ) {
        let object = BusPlace(owner: daemon, path: path, interface: "org.freedesktop.DBus.Properties")
        bus.call(object, "Get", [.text(interface), .text(property)]) { reply in
            guard case .success(let value) = reply else { return then(nil) }
            then(value[0]?.content)
        }
    }

    /// Locks the login keyring of the running daemon, if there is one.
    static func lockLogin(on bus: Bus, then: @escaping @MainActor () -> Void) {
        let service = BusPlace(owner: name, path: path, interface: "org.freedesktop.Secret.Service")
        bus.call(service, "ReadAlias", [.text("login")], within: 2) { reply in
            // Without a daemon or a login keyring, nothing is open.
            guard case .success(let value) = reply, let path = value[0]?.path else {
                return then()
            }
            bus.call(service, "Lock", [.paths([path])], within: 2) { reply in
                if case .failure(let fault) = reply {
                    Program.write("Cannot lock the keyring: \(fault.message)")
                }
                then()
            }
        }
    }
}

/// The locked keyrings among which a prompt's one is.
struct LockedKeyrings: Sendable {
    /// Whether the login keyring is one of them, whose password Whorl has.
    var hasLogin = false
    /// The labels of the others.
    var otherLabels: [String] = []

    /// Returns whether a prompt is for the login keyring.
    ///
    /// gnome-keyring names every other keyring by its label, and the login keyring with a fixed sentence.
    func isForLogin(_ texts: PromptTexts) -> Bool { hasLogin && !otherLabels.contains(where: texts.quote) }
}
