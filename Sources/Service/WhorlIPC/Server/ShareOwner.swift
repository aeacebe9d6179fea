// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The user whose share of the service a connection takes.
///
/// A program with root's rights, such as `su`, connects as root, and the person who started it can stop it while it is connected.
/// So root's connections are counted by the account in whose slice (`user-1000.slice`, systemd.slice(5)) their process runs.
/// Only root can change that. The helper of polkit 127 is started by the system, for any user who connects to its socket: its unit's
/// name ends with that user's number.
struct ShareOwner: Sendable, Hashable {
    /// The user who connected.
    let uid: UInt32
    /// Where root's process runs; ``Slice/system`` for another user's.
    let slice: Slice

    enum Slice: Sendable, Hashable {
        /// In no account's slice, as the system's own services.
        case system
        /// In the slice of this account.
        case user(UInt32)
        /// Nothing tells where.
        case unknown
    }

    init(of user: PeerUser) {
        uid = user.uid
        slice = user.uid == 0 ? Slice(ofProcess: user.pid) : .system
    }
}

extension ShareOwner.Slice {
    /// Reads the control groups of a process (cgroups(7)) in a folder of all processes, which a test replaces.
    init(ofProcess pid: Int32, in folder: String = "/proc") {
        let file = open("\(folder)/\(pid)/cgroup", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            self = .unknown
            return
        }
        defer { close(file) }
        var room = [UInt8](repeating: 0, count: 16_384)
        let count = Glibc.read(file, &room, room.count)
        // A longer text may say more than what was read.
        guard count > 0, count < room.count else {
            self = .unknown
            return
        }
        self.init(controlGroups: String(decoding: room[..<count], as: UTF8.self))
    }

    /// Takes the first slice of an account on the way to a group; what follows may have been named by the account.
    init(controlGroups text: String) {
        for part in text.split(whereSeparator: { $0 == "/" || $0 == "\n" }) {
            guard let number = Self.account(part) else { continue }
            self = .user(number)
            return
        }
        self = .system
    }

    /// The account for which the system's service manager has made a slice or a unit of polkit's helper.
    private static func account(_ part: Substring) -> UInt32? {
        if part.hasPrefix("user-"), part.hasSuffix(".slice") { return UInt32(part.dropFirst(5).dropLast(6)) }
        guard part.hasPrefix("polkit-agent-helper@"), part.hasSuffix(".service") else { return nil }
        return part.dropLast(8).split(separator: "-").last.flatMap { UInt32($0) }
    }
}
