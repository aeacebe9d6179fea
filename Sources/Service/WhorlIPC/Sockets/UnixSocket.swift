// SPDX-License-Identifier: Apache-2.0

internal import CWhorlSocket
internal import Glibc

/// Functions for nonblocking Unix stream sockets.
package enum UnixSocket {
    /// The maximum length of a socket's path, in bytes, without the terminating zero (`sockaddr_un.sun_path`).
    static let longestPath = 107

    /// Connects to a listening socket; waits up to 5 seconds if its backlog is full.
    ///
    /// - Throws: An error of `connect`: `ENOENT` or `ECONNREFUSED` if no service is listening, `EAGAIN` if its backlog
    ///   stays full.
    package static func connect(to path: String) throws(SystemCallError) -> Descriptor {
        let socket = try make(waits: true)
        // The kernel wakes waiting callers in order; a caller that retries repeatedly never gets through in a flood.
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        guard setsockopt(socket.number, SOL_SOCKET, SO_SNDTIMEO, &limit, size) == 0 else {
            throw SystemCallError("setsockopt")
        }
        try withAddress(path) { address, size throws(SystemCallError) in
            // A signal also ends the wait.
            while Glibc.connect(socket.number, address, size) != 0 {
                guard errno == EINTR else { throw SystemCallError("connect") }
            }
        }
        try adopt(socket)
        return socket
    }

    /// Listens at a path, which must not exist yet.
    ///
    /// The socket's permissions depend on the process's umask.
    package static func listen(at path: String, backlog: Int32 = 128) throws(SystemCallError) -> Descriptor {
        let socket = try make()
        try withAddress(path) { address, size throws(SystemCallError) in
            guard bind(socket.number, address, size) == 0 else { throw SystemCallError("bind") }
        }
        guard Glibc.listen(socket.number, backlog) == 0 else { throw SystemCallError("listen") }
        return socket
    }

    /// Creates a pair of connected sockets.
    package static func pair() throws(SystemCallError) -> (Descriptor, Descriptor) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemCallError("socketpair") }
        let pair = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
        // Before anything is sent, because a service may get its end later.
        try tellSenders(on: pair.0)
        return pair
    }

    /// Makes the kernel report the sender of each message (`SO_PASSCRED`).
    ///
    /// A connection inherits this option from the listening socket, so that the sender of the first message is known as
    /// well. One of two connected sockets must have the option when a message is sent, and the other one when it is
    /// read.
    static func tellSenders(on socket: Descriptor) throws(SystemCallError) {
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        guard setsockopt(socket.number, SOL_SOCKET, Int32(WHORL_SO_PASSCRED), &on, size) == 0 else {
            throw SystemCallError("setsockopt")
        }
    }

    /// Accepts the next connection; returns `nil` if none is waiting.
    package static func accept(from listener: Descriptor) throws(SystemCallError) -> Descriptor? {
        while true {
            let number = whorl_accept(listener.number)
            if number >= 0 { return Descriptor(owning: number) { ClientSockets.shared.close($0) } }
            switch errno {
            case EAGAIN: return nil
            // The client is already gone, or a signal came: try the next one.
            case EINTR, ECONNABORTED: continue
            default: throw SystemCallError("accept")
            }
        }
    }

    /// Returns the number of connections that the other side has closed, including those with unread data.
    static func countHungUp(_ sockets: [Descriptor]) -> Int {
        var places = sockets.map { pollfd(fd: $0.number, events: 0, revents: 0) }
        // It does not block, and so can fail only for lack of memory: then all count as open.
        guard poll(&places, nfds_t(places.count), 0) >= 0 else { return 0 }
        return places.count { $0.revents & Int16(POLLHUP | POLLERR) != 0 }
    }

    /// Returns whether the other side has closed a connection without sending anything.
    static func hasGone(_ socket: Descriptor) -> Bool {
        var byte: UInt8 = 0
        return recv(socket.number, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    /// Returns whether a connection is open on both sides and has no unread data.
    static func isQuiet(_ socket: Descriptor) -> Bool {
        var place = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
        return poll(&place, 1, 0) == 0
    }

    /// Returns whether a descriptor is a connected Unix stream socket, as opposed to a listening one or any other kind
    /// of file.
    package static func isConnectedStream(_ descriptor: Descriptor) -> Bool {
        func option(_ name: Int32) -> Int32? {
            var value: Int32 = -1
            var size = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(descriptor.number, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
        }
        guard option(SO_DOMAIN) == AF_UNIX, option(SO_TYPE) == Int32(SOCK_STREAM.rawValue),
            option(SO_ACCEPTCONN) == 0
        else { return false }
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getpeername(descriptor.number, $0, &size) == 0
            }
        }
    }

    /// Makes a descriptor from another program usable: nonblocking, and not inherited by child processes.
    package static func adopt(_ descriptor: Descriptor) throws(SystemCallError) {
        let flags = fcntl(descriptor.number, F_GETFL)
        guard flags >= 0, fcntl(descriptor.number, F_SETFL, flags | O_NONBLOCK) == 0,
            fcntl(descriptor.number, F_SETFD, FD_CLOEXEC) == 0
        else { throw SystemCallError("fcntl") }
    }

    private static let waitingType = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    private static let type = waitingType | Int32(SOCK_NONBLOCK.rawValue)

    private static func make(waits: Bool = false) throws(SystemCallError) -> Descriptor {
        let number = socket(AF_UNIX, waits ? waitingType : type, 0)
        guard number >= 0 else { throw SystemCallError("socket") }
        return Descriptor(owning: number)
    }

    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SystemCallError) -> Void
    ) throws(SystemCallError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count <= longestPath, !bytes.contains(0) else {
            errno = ENAMETOOLONG
            throw SystemCallError("connect")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Result { () throws(SystemCallError) in try body(address, size) }
            }
        }
        try result.get()
    }
}
