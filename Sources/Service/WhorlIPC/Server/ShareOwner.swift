// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The user to whose share of the service a connection is charged.
///
/// A program with root's rights, such as `su`, connects as root, and the user who started it can stop it while it is
/// connected. Root's connections are therefore counted by the account whose slice (`user-1000.slice`, systemd.slice(5))
/// contains their process. Only root can change that. The system starts the helper of polkit 127 for any user who
/// connects to its socket; its unit's name ends with that user's ID.
struct ShareOwner: Sendable, Hashable {
    /// The user who connected.
    let uid: UInt32
    /// The slice of root's process; ``Slice/system`` for another user's.
    let slice: Slice

    enum Slice: Sendable, Hashable {
        /// Not in any account's slice, like the system's own services.
        case system
        /// In the slice of this account.
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
    /// Reads the control groups of a process (cgroups(7)) in a folder of all processes, which a test can replace.
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

    /// Takes the first account slice on the path to a group; names after it may have been chosen by the account.
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
