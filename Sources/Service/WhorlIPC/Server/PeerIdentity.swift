// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc

/// The user at the other end of a connection, as the kernel tells it: the effective user at the time of `connect(2)`.
///
/// Rights follow the user alone. It does not change when the process gives the descriptor away or takes another user's id.
package struct PeerUser: Sendable, Hashable {
    /// The user's number.
    package let uid: UInt32
    /// The group's number.
    package let gid: UInt32
    /// The process that connected; the number may belong to another process by now.
    package let pid: Int32

    package init(uid: UInt32, gid: UInt32, pid: Int32) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
    }

    /// Asks the kernel about a connected socket (`SO_PEERCRED`).
    package init(of socket: Descriptor) throws(SystemCallError) {
        var credentials = whorl_credentials()
        var size = socklen_t(MemoryLayout<whorl_credentials>.size)
        guard getsockopt(socket.number, SOL_SOCKET, Int32(WHORL_SO_PEERCRED), &credentials, &size) == 0,
            size == MemoryLayout<whorl_credentials>.size
        else { throw SystemCallError("getsockopt") }
        self.init(uid: credentials.uid, gid: credentials.gid, pid: credentials.pid)
    }
}

/// The process at the other end of a connection, held so that its number cannot come to mean another one.
///
/// It names the asker in prompts and logs, and finds its session and seat. It gives no rights.
package final class PeerProcess: Sendable {
    /// The process's number, which is its own as long as ``isRunning``.
    package let pid: Int32
    private let handle: Descriptor
    /// The number that the process must repeat before it is believed; `nil` once the kernel itself has named it.
    private let challenge: UInt64?

    /// Takes the process from the socket where the kernel has `SO_PEERPIDFD` (6.5), and else opens it by its number,
    /// which proves nothing until ``isProven(by:from:)``.
    ///
    /// - Returns: `nil` when the process has ended.
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

    /// Opens the process by its number; the peer has to answer ``question`` first.
    convenience init?(challenging user: PeerUser) {
        let number = whorl_pidfd_open(user.pid)
        guard number >= 0 else { return nil }
        self.init(pid: user.pid, handle: Descriptor(owning: number), challenge: .random(in: 1 ... .max))
    }

    /// Takes a process that another one has passed, by a descriptor of it (`pidfd_open(2)`).
    ///
    /// - Returns: `nil` for any other descriptor, and for a process that has ended or has no number here.
    convenience init?(passed descriptor: Descriptor) {
        guard let pid = descriptor.process else { return nil }
        self.init(pid: pid, handle: descriptor, challenge: nil)
    }

    /// Returns whether a process has ended, also where its parent has not taken note of it.
    package static func hasEnded(_ pid: Int32) -> Bool {
        let number = whorl_pidfd_open(pid)
        guard number >= 0 else { return errno == ESRCH }
        return PeerProcess(pid: pid, handle: Descriptor(owning: number), challenge: nil) == nil
    }

    private init?(pid: Int32, handle: Descriptor, challenge: UInt64?) {
        self.pid = pid
        self.handle = handle
        self.challenge = challenge
        // 0 is a process that has no number here, and to other services it means the one that asks them.
        guard pid > 0, isRunning else { return nil }
    }

    /// The number to send to the peer; `nil` where no answer is needed.
    var question: UInt64? { challenge }

    /// Whether an answer proves that the peer is this process.
    ///
    /// The number was made after the process was opened, so the answer was sent after that too; the kernel says by which
    /// process; and that process still runs, so its number has meant no other one in between.
    ///
    /// - Parameters:
    ///   - answer: The number that came back.
    ///   - sender: The process that sent the message, by the kernel's word (`SCM_CREDENTIALS`).
    /// - Returns: `true` where the peer is this process.
    func isProven(by answer: UInt64, from sender: Int32) -> Bool {
        guard let challenge else { return isRunning }
        return answer == challenge && hasSent(sender)
    }

    /// Whether a message that the kernel names `sender` for is this process's own.
    ///
    /// The number alone does not tell: once the process has ended, another one can have it.
    func hasSent(_ sender: Int32) -> Bool { sender == pid && isRunning }

    /// Whether the process has not ended.
    package var isRunning: Bool {
        var poll = pollfd(fd: handle.number, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, 0) == 0
    }
}

extension Descriptor {
    /// The number of the process that this is a descriptor of; `nil` for any other descriptor.
    ///
    /// The kernel alone gives files this name: a path begins with a slash, and so does the name of a memory file.
    fileprivate var process: Int32? {
        var name = [UInt8](repeating: 0, count: 64)
        let length = readlink("/proc/self/fd/\(number)", &name, name.count)
        guard length > 0, name.prefix(length).elementsEqual("anon_inode:[pidfd]".utf8) else { return nil }
        let file = open("/proc/self/fdinfo/\(number)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(file, &bytes, bytes.count)
        // It has some hundred bytes; one that is cut off tells nothing.
        guard count > 0, count < bytes.count else { return nil }
        let line = bytes.prefix(count).split(separator: UInt8(ascii: "\n")).first {
            $0.starts(with: "Pid:".utf8)
        }
        return line.flatMap { Int32(String(decoding: $0.dropFirst(5), as: UTF8.self)) }
    }
}

/// The security module's label of the process that connected, such as an AppArmor profile.
package enum PeerLabel: Sendable, Hashable {
    /// The kernel keeps no labels for such sockets.
    case none
    /// The label, as it was when the process connected.
    case text(String)
    /// The label cannot be read.
    case unreadable

    /// The longest label that is read, in bytes.
    static let longest = 4096

    /// Asks the kernel about a connected socket (`SO_PEERSEC`).
    init(of socket: Descriptor) {
        var bytes = [UInt8](repeating: 0, count: Self.longest)
        var size = socklen_t(bytes.count)
        guard getsockopt(socket.number, SOL_SOCKET, Int32(WHORL_SO_PEERSEC), &bytes, &size) == 0 else {
            self = errno == ENOPROTOOPT ? .none : .unreadable
            return
        }
        // Some modules count a zero at the end, and some do not.
        let text = String(validating: bytes.prefix(Int(size)).prefix { $0 != 0 }, as: UTF8.self)
        self = text.map { .text($0) } ?? .unreadable
    }
}
