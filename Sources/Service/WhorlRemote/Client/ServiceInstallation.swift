// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlIPC

/// The installation of the system's service on this machine, by its files.
///
/// An administrator switches the service off with `systemctl disable --now whorld.socket`. It stays installed: calls fail,
/// and no program takes a weaker place without having chosen it.
package struct ServiceInstallation: Sendable {
    private let root: String
    private let socket: String

    /// Describes the installation below a root folder.
    package init(root: String = "", socket: String = PathTransport.systemPath) {
        self.root = root
        self.socket = root + socket
    }

    /// Whether the service is installed, switched on or off.
    ///
    /// Its unit decides. On a machine without systemd, a service that listens does; a socket's file that was left behind does not.
    package var isInstalled: Bool { hasUnit || answers }

    /// Whether the service is installed, and neither enabled nor started.
    package var isSwitchedOff: Bool { hasUnit && !(isEnabled || answers) }

    /// Whether there is a unit, apart from the link by which systemd keeps it off.
    private var hasUnit: Bool {
        Self.folders.contains { access("\(root)\($0)/whorld.socket", F_OK) == 0 && !isMasked(in: $0) }
    }

    /// Whether systemd starts the service's socket with the machine.
    private var isEnabled: Bool {
        !Self.folders.contains { isMasked(in: $0) }
            && Self.folders.contains { exists("\(root)\($0)/sockets.target.wants/whorld.socket") }
    }

    private func isMasked(in folder: String) -> Bool {
        var target = [CChar](repeating: 0, count: 16)
        let length = readlink("\(root)\(folder)/whorld.socket", &target, target.count)
        return length == 9 && target.prefix(9).elementsEqual("/dev/null".utf8.map(CChar.init))
    }

    private var answers: Bool {
        guard exists(socket) else { return false }
        do throws(SystemCallError) {
            _ = try UnixSocket.connect(to: socket)
            return true
        } catch {
            // Someone listens, and is busy.
            return error.number == EAGAIN
        }
    }

    /// Whether a name exists; a link counts, wherever it leads.
    private func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// The folders of systemd's units.
    private static let folders = [
        "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
        "/usr/lib/systemd/system",
        "/lib/systemd/system",
    ]
}
