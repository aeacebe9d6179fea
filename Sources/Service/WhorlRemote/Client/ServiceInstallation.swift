// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlIPC

/// The installation of the system service on this machine, as determined from its files.
///
/// An administrator disables the service with `systemctl disable --now whorld.socket`. The service then stays
/// installed: calls fail, and programs do not fall back to a weaker place unless one was selected.
package struct ServiceInstallation: Sendable {
    private let root: String
    private let socket: String

    /// Creates the description of the installation in a root folder.
    package init(root: String = "", socket: String = PathTransport.systemPath) {
        self.root = root
        self.socket = root + socket
    }

    /// Whether the service is installed, enabled or not.
    ///
    /// It is installed if its systemd unit exists. On a machine without systemd, the service must be listening; a
    /// leftover socket file is not enough.
    package var isInstalled: Bool { hasUnit || answers }

    /// Whether the service is installed, but neither enabled nor started.
    package var isSwitchedOff: Bool { hasUnit && !(isEnabled || answers) }

    /// Whether the unit exists; the link by which systemd masks a unit does not count.
    private var hasUnit: Bool {
        Self.folders.contains { access("\(root)\($0)/whorld.socket", F_OK) == 0 && !isMasked(in: $0) }
    }

    /// Whether systemd starts the service's socket at boot.
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
            // A process is listening, and is busy.
            return error.number == EAGAIN
        }
    }

    /// Returns whether a file exists at a path; a link counts, even if it is broken.
    private func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// The folders in which systemd units are installed.
    private static let folders = [
        "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
        "/usr/lib/systemd/system",
        "/lib/systemd/system",
    ]
}
