// SPDX-License-Identifier: Apache-2.0

import CGLib
import Glibc

/// The check whether a program on the bus is the keyring's daemon.
///
/// The program must own one of the daemon's names and run the file of gnome-keyring-daemon, which only root can have
/// installed. A program of the same user that controls the daemon, such as with a library that is loaded into it, passes
/// the check; it can also read the open keyring.
@MainActor
enum DaemonCheck {
    /// The names of the daemon on the bus.
    private static let names = ["org.freedesktop.secrets", "org.gnome.keyring"]
    private static let program = "gnome-keyring-daemon"

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
        guard let path = String(validating: bytes, as: UTF8.self),
            let slash = path.lastIndex(of: "/"), path[path.index(after: slash)...] == program
        else { return false }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        // In another namespace, the same path can be another file. A file that was replaced by an upgrade has another
        // path; the daemon then asks for the password until it is restarted.
        guard let running = file(link), let installed = file(path), let place = file(folder) else {
            return false
        }
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
