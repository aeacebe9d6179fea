// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The user to whose share of the service a connection is charged.
///
/// A program with root privileges, such as `su`, connects as root, and the user who started it can stop it while it is
/// connected. So a root process's connections are charged to the account whose slice (`user-1000.slice`,
/// systemd.slice(5)) contains the process. Only root can move a process to another slice. The system starts polkit
/// 127's helper for any user who connects to its socket; the name of the helper's unit ends with that user's ID.
struct ShareOwner: Sendable, Hashable {
    /// The user who connected.
    let uid: UInt32
    /// The slice of a root process; ``Slice/system`` for the process of any other user.
    let slice: Slice

    enum Slice: Sendable, Hashable {
        /// The process is not in any account's slice, like the system's own services.
        case system
        /// The process is in the slice of this account.
        case user(UInt32)
        /// The slice is unknown.
        case unknown
    }

    init(of user: PeerUser) {
        uid = user.uid
        slice = user.uid == 0 ? Slice(ofProcess: user.pid) : .system
    }
}

extension ShareOwner.Slice {
    /// Determines the slice from a process's control groups (cgroups(7)); tests can replace the folder with all
    /// processes.
    init(ofProcess pid: Int32, in folder: String = "/proc") {
        let file = open("\(folder)/\(pid)/cgroup", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            self = .unknown
            return
        }
        defer { close(file) }
        var room = [UInt8](repeating: 0, count: 16_384)
        let count = Glibc.read(file, &room, room.count)
        // A longer text may contain more than was read.
        guard count > 0, count < room.count else {
            self = .unknown
            return
        }
        self.init(controlGroups: String(decoding: room[..<count], as: UTF8.self))
    }

    /// Determines the slice from control groups: the first account slice in the path, because the account may have
    /// chosen the names after it.
    init(controlGroups text: String) {
        for part in text.split(whereSeparator: { $0 == "/" || $0 == "\n" }) {
            guard let number = Self.account(part) else { continue }
            self = .user(number)
            return
        }
        self = .system
    }

    /// Returns the account for which the system's service manager created a slice or a unit of polkit's helper.
    private static func account(_ part: Substring) -> UInt32? {
        if part.hasPrefix("user-"), part.hasSuffix(".slice") { return UInt32(part.dropFirst(5).dropLast(6)) }
        guard part.hasPrefix("polkit-agent-helper@"), part.hasSuffix(".service") else { return nil }
        return part.dropLast(8).split(separator: "-").last.flatMap { UInt32($0) }
    }
}
