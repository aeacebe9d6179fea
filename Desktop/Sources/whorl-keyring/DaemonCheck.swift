// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc

/// The check whether a program on the bus is the keyring's daemon.
///
/// The program must own one of the daemon's names and run the installed gnome-keyring-daemon, which only root can
/// change. It may still be controlled by another program of the same user, which has started it with its own library,
/// or traces it. That program passes the check; it can also read the open keyring.
@MainActor
enum DaemonCheck {
    /// The names of the daemon on the bus.
    private static let names = ["org.freedesktop.secrets", "org.gnome.keyring"]
    /// The installed program, and its folder.
    private static let program = (path: "/usr/bin/gnome-keyring-daemon", folder: "/usr/bin")

    /// Returns whether a program owns one of the daemon's names.
    static func ownsName(_ caller: String, on bus: Bus) -> Bool {
        names.contains { name in
            // Without an owner, the bus replies with an error.
            (try? bus.ask("GetNameOwner", [.text(name)]))?[0]?.text == caller
        }
    }

    /// Returns whether a program is the daemon.
    static func passes(_ caller: String, on bus: Bus) -> Bool {
        // The bus replies with an error if the program has left.
        guard ownsName(caller, on: bus),
            let user = try? bus.ask("GetConnectionUnixUser", [.text(caller)])[0]?.number, user == getuid(),
            let process = try? bus.ask("GetConnectionUnixProcessID", [.text(caller)])[0]?.number,
            runsDaemon(process)
        else { return false }
        // The number belonged to the daemon, and not to a later process, if the connection is still there.
        return ownsName(caller, on: bus)
    }

    /// Returns whether a process runs the daemon's file.
    private static func runsDaemon(_ process: UInt32) -> Bool {
        let link = "/proc/\(process)/exe"
        var room = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink(link, &room, Int(PATH_MAX))
        guard count > 0 else { return false }
        let bytes = room.prefix(count).map { UInt8(bitPattern: $0) }
        // In another namespace, the same path can be another file. A file that was replaced by an upgrade has another
        // path; the daemon then asks for the password until it is restarted.
        guard String(validating: bytes, as: UTF8.self) == program.path,
            let running = file(link), let installed = file(program.path), let place = file(program.folder)
        else { return false }
        return running.st_dev == installed.st_dev && running.st_ino == installed.st_ino
            && belongsToRoot(running) && belongsToRoot(place)
    }

    private static func file(_ path: String) -> stat? {
        var found = stat()
        return stat(path, &found) == 0 ? found : nil
    }

    /// Returns whether only root can change a file or a folder.
    private static func belongsToRoot(_ file: stat) -> Bool { file.st_uid == 0 && file.st_mode & 0o022 == 0 }
}
