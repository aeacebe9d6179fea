// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// One stream socket, closed with this value's end.
final class UnixSocket: Sendable {
    let descriptor: Int32
    /// No program that a test starts is to inherit one.
    private static let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)

    init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        // The other side sees the end even if a program that was started at this moment has the socket, too.
        stop()
        close(descriptor)
    }

    convenience init(connectingTo path: String) throws {
        self.init(owning: socket(AF_UNIX, Self.kind, 0))
        guard Self.withAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
            throw SoftwareTPMError.noAnswer
        }
    }

    convenience init(listeningAt path: String) throws {
        self.init(owning: socket(AF_UNIX, Self.kind, 0))
        unlink(path)
        guard Self.withAddress(path, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 64) == 0 else {
            throw SoftwareTPMError.notStarted
        }
    }

    /// The next connection; `nil` after ``stop()``.
    func accepted() -> UnixSocket? {
        let peer = accept(descriptor, nil, nil)
        guard peer >= 0 else { return nil }
        _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
        return UnixSocket(owning: peer)
    }

    /// Wakes whoever waits in ``accepted()`` or reads.
    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Tells the other side that nothing more is sent.
    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Sends a command of the TPM and reads the whole answer.
    func exchange(_ command: [UInt8]) throws -> [UInt8] {
        send(command)
        guard let answer = message() else { throw SoftwareTPMError.noAnswer }
        return answer
    }

    /// Kills the process at the other end, as nothing else can be killed in the middle of what it does there.
    func killPeer() {
        // C's `struct ucred`, which is not imported: process, user, group.
        var peer: (pid: pid_t, uid: uid_t, gid: gid_t) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: peer))
        // Never 0 or less, which would be a group of processes, and never the tests themselves.
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0, peer.pid > 0,
            peer.pid != getpid()
        else { return }
        kill(peer.pid, SIGKILL)
    }

    func send(_ bytes: [UInt8]) {
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// One command or answer: two bytes of tag, four of the size of it all, the rest.
    ///
    /// `nil` at the end.
    func message() -> [UInt8]? {
        guard let header = read(10) else { return nil }
        let size = Int(header[2..<6].reduce(0) { $0 << 8 | UInt32($1) })
        guard 10...8192 ~= size, let rest = read(size - 10) else { return nil }
        return header + rest
    }

    func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = bytes.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress?.advanced(by: done), count - done, 0)
            }
            guard got > 0 else { return nil }
            done += got
        }
        return bytes
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32)
        -> Int32
    {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { room in
            // The last byte stays zero.
            room.copyBytes(from: path.utf8.prefix(room.count - 1))
        }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
