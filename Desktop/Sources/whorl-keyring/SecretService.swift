// SPDX-License-Identifier: Apache-2.0

/// The Secret Service of the keyring's daemon, as far as the prompter needs it.
@MainActor
enum SecretService {
    private static let path = "/org/freedesktop/secrets"
    private static let name = "org.freedesktop.secrets"

    /// Finds out whether the login keyring is locked, which is the one whose password Whorl has.
    ///
    /// - Parameters:
    ///   - daemon: The daemon's unique name, so that no other program can reply.
    ///   - bus: The session bus.
    ///   - then: Called with the result; `false` if the daemon does not reply.
    static func isLoginLocked(at daemon: String, on bus: Bus, then: @escaping @MainActor (Bool) -> Void) {
        let service = BusPlace(owner: daemon, path: path, interface: "org.freedesktop.Secret.Service")
        bus.call(service, "ReadAlias", [.text("login")]) { reply in
            guard case .success(let value) = reply, let path = value[0]?.path else {
                return then(false)
            }
            let collection = BusPlace(owner: daemon, path: path, interface: "org.freedesktop.DBus.Properties")
            let locked = [BusContent.text("org.freedesktop.Secret.Collection"), .text("Locked")]
            bus.call(collection, "Get", locked) { reply in
                guard case .success(let value) = reply else { return then(false) }
                then(value[0]?.content.flag ?? false)
            }
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
