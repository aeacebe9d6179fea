// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc

/// The user at the other end of a connection, as reported by the kernel: the effective user of the process when it
/// called `connect(2)`.
///
/// Only the user determines the rights. The user does not change if the process passes on the descriptor or changes its
/// user ID.
package struct PeerUser: Sendable, Hashable {
    /// The user ID.
    package let uid: UInt32
    /// The group ID.
    package let gid: UInt32
    /// The ID of the process that connected, which may have been reused by now.
    package let pid: Int32

    package init(uid: UInt32, gid: UInt32, pid: Int32) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
    }

    /// Reads the user from a connected socket (`SO_PEERCRED`).
    package init(of socket: Descriptor) throws(SystemCallError) {
        var credentials = whorl_credentials()
        var size = socklen_t(MemoryLayout<whorl_credentials>.size)
        guard getsockopt(socket.number, SOL_SOCKET, Int32(WHORL_SO_PEERCRED), &credentials, &size) == 0,
            size == MemoryLayout<whorl_credentials>.size
        else { throw SystemCallError("getsockopt") }
        self.init(uid: credentials.uid, gid: credentials.gid, pid: credentials.pid)
    }
}

/// The process at the other end of a connection.
///
/// It is referenced in a way that reveals whether its ID may have been reused.
///
/// It identifies the requesting program in prompts and logs, and is used to find its session and seat. It does not
/// grant any rights.
package final class PeerProcess: Sendable {
    /// The process ID, which belongs to this process as long as ``isRunning`` is `true`.
    package let pid: Int32
    private let handle: Descriptor
    /// The number that the process must send back to prove its identity; `nil` if the kernel has identified the
    /// process.
    private let challenge: UInt64?

    /// Gets the process from the socket if the kernel supports `SO_PEERPIDFD` (6.5); otherwise opens it by its ID.
    ///
    /// An ID does not prove anything until ``isProven(by:from:)`` returns `true`.
    ///
    /// - Returns: The process; `nil` if it has ended.
    convenience init?(of socket: Descriptor, _ user: PeerUser) {
        var number: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        let isTold =
            getsockopt(socket.number, SOL_SOCKET, Int32(WHORL_SO_PEERPIDFD), &number, &size) == 0
        if isTold, number >= 0 {
            self.init(pid: user.pid, handle: Descriptor(owning: number), challenge: nil)
        } else {
            self.init(challenging: user)
        }
    }

    /// Opens the process by its ID.
    ///
    /// The peer must then answer ``question``.
    convenience init?(challenging user: PeerUser) {
        let number = whorl_pidfd_open(user.pid)
        guard number >= 0 else { return nil }
        self.init(pid: user.pid, handle: Descriptor(owning: number), challenge: .random(in: 1 ... .max))
    }

    /// Takes over a process that another process passed as a descriptor (`pidfd_open(2)`).
    ///
    /// - Returns: The process; `nil` if the descriptor is not one of a process, or the process has ended or has no ID
    ///   in this PID namespace.
    convenience init?(passed descriptor: Descriptor) {
        guard let pid = descriptor.process else { return nil }
        self.init(pid: pid, handle: descriptor, challenge: nil)
    }

    /// Returns whether a process has ended, even if its parent has not reaped it.
    package static func hasEnded(_ pid: Int32) -> Bool {
        let number = whorl_pidfd_open(pid)
        guard number >= 0 else { return errno == ESRCH }
        return PeerProcess(pid: pid, handle: Descriptor(owning: number), challenge: nil) == nil
    }

    private init?(pid: Int32, handle: Descriptor, challenge: UInt64?) {
        self.pid = pid
        self.handle = handle
        self.challenge = challenge
        // 0 is a process without an ID here; other services take it for the calling process.
        guard pid > 0, isRunning else { return nil }
    }

    /// The number to send to the peer; `nil` if the peer does not need to answer.
    var question: UInt64? { challenge }

    /// Returns whether an answer proves that the peer is this process.
    ///
    /// The number was created after the process was opened, so the answer was sent later. The kernel reports which
    /// process sent it, and that process is still running, so its ID has not been reused in the meantime.
    ///
    /// - Parameters:
    ///   - answer: The number that the peer returned.
    ///   - sender: The process that sent the message, as reported by the kernel (`SCM_CREDENTIALS`).
    /// - Returns: `true` if the peer is this process.
    func isProven(by answer: UInt64, from sender: Int32) -> Bool {
        guard let challenge else { return isRunning }
        return answer == challenge && hasSent(sender)
    }

    /// Returns whether this process sent a message, based on the sender that the kernel reports.
    ///
    /// Comparing the ID is not enough, because it can be reused once the process has ended.
    func hasSent(_ sender: Int32) -> Bool { sender == pid && isRunning }

    /// Whether the process is still running.
    package var isRunning: Bool {
        var poll = pollfd(fd: handle.number, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, 0) == 0
    }
}

extension Descriptor {
    /// The ID of the process that a descriptor refers to; `nil` for any other descriptor.
    ///
    /// Only the kernel can assign this name, because paths and the names of memory files begin with a slash.
    fileprivate var process: Int32? {
        var name = [UInt8](repeating: 0, count: 64)
        let length = readlink("/proc/self/fd/\(number)", &name, name.count)
        guard length > 0, name.prefix(length).elementsEqual("anon_inode:[pidfd]".utf8) else { return nil }
        let file = open("/proc/self/fdinfo/\(number)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(file, &bytes, bytes.count)
        // It has a few hundred bytes; a truncated one is useless.
        guard count > 0, count < bytes.count else { return nil }
        let line = bytes.prefix(count).split(separator: UInt8(ascii: "\n")).first {
            $0.starts(with: "Pid:".utf8)
        }
        return line.flatMap { Int32(String(decoding: $0.dropFirst(5), as: UTF8.self)) }
    }
}

/// The security module's label for the connected process, such as an AppArmor profile.
package enum PeerLabel: Sendable, Hashable {
    /// The kernel does not label such sockets.
    case none
    /// The label that the process had when it connected.
    case text(String)
    /// The label cannot be read.
    case unreadable

    /// The maximum length of a label, in bytes.
    static let longest = 4096

    /// Reads the label of a connected socket (`SO_PEERSEC`).
    init(of socket: Descriptor) {
        var bytes = [UInt8](repeating: 0, count: Self.longest)
        var size = socklen_t(bytes.count)
        guard getsockopt(socket.number, SOL_SOCKET, Int32(WHORL_SO_PEERSEC), &bytes, &size) == 0 else {
            self = errno == ENOPROTOOPT ? .none : .unreadable
            return
        }
        // Some modules include a terminating zero in the length, and some do not.
        let text = String(validating: bytes.prefix(Int(size)).prefix { $0 != 0 }, as: UTF8.self)
        self = text.map { .text($0) } ?? .unreadable
    }
}
