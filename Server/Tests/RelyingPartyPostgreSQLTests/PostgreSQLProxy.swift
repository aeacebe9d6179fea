// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization

/// Stands between a store and its server, and loses answers or holds everything back, as a network does.
final class PostgreSQLProxy: Sendable {
    /// What all connections share.
    private final class Line: Sendable {
        /// The commands whose next answer is lost, as the server names them: `COMMIT`, `DELETE 1`.
        let lost = Mutex<[String]>([])
        let isHeld = Mutex(false)
        let connections = Mutex<[Ends]>([])

        /// Whether the answer to this command is to be lost; each is once.
        func loses(_ command: String) -> Bool {
            lost.withLock {
                guard let index = $0.firstIndex(of: command) else { return false }
                $0.remove(at: index)
                return true
            }
        }
    }

    /// The two sockets of a connection, which are closed when both directions are over.
    private final class Ends: Sendable {
        let client: Int32
        let server: Int32

        init(client: Int32, server: Int32) { (self.client, self.server) = (client, server) }

        deinit {
            close(client)
            close(server)
        }

        func cut() { for end in [client, server] { shutdown(end, Int32(SHUT_RDWR)) } }
    }

    private let listener: Int32
    private let line = Line()
    private let port: Int

    /// Listens on a free port of the loopback, in front of the socket at `path`.
    init(to path: String) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard bound else { throw PostgreSQLServer.Missing(what: "no port") }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [line] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                let ends = Ends(client: client, server: Self.connect(to: path))
                line.connections.withLock { $0.append(ends) }
                Thread.detachNewThread { Self.forward(ends, line) }
                Thread.detachNewThread { Self.answer(ends, line) }
            }
        }
    }

    deinit {
        release()
        cut()
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// The server's URL by way of here.
    func url(_ database: String) -> String {
        "postgres://whorl@127.0.0.1:\(port)/\(database)?sslmode=disable&gssencmode=disable"
    }

    /// Cuts the connection once the server has done `command`, before its answer gets through.
    func loseAnswer(to command: String) { line.lost.withLock { $0.append(command) } }

    /// Whether an answer is still to be lost.
    var isWaiting: Bool { line.lost.withLock { !$0.isEmpty } }

    /// Lets nothing through from now on, and cuts nothing, as where the server's machine stands still.
    func hold() { line.isHeld.withLock { $0 = true } }

    /// Lets new connections through, and those that said nothing meanwhile.
    func release() { line.isHeld.withLock { $0 = false } }

    /// Cuts all connections.
    func cut() { line.connections.withLock { for ends in $0 { ends.cut() } } }

    private static func connect(to path: String) -> Int32 {
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(server, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return server
    }

    private static func forward(_ ends: Ends, _ line: Line) {
        defer { ends.cut() }
        var isHeld = false
        while let bytes = read(ends.client) {
            // The rest of what was held back means nothing without it.
            isHeld = isHeld || line.isHeld.withLock { $0 }
            if !isHeld { write(bytes, to: ends.server) }
        }
    }

    /// Lets whole messages through: a byte for the kind, four for the length, which counts itself.
    private static func answer(_ ends: Ends, _ line: Line) {
        defer { ends.cut() }
        var isHeld = false
        var isLosing = false
        var rest: [UInt8] = []
        while let bytes = read(ends.server) {
            rest += bytes
            while rest.count >= 5 {
                let length = 1 + rest[1..<5].reduce(0) { $0 << 8 | Int($1) }
                guard rest.count >= length else { break }
                let message = Array(rest[..<length])
                rest.removeFirst(length)
                let isCommand = message[0] == UInt8(ascii: "C")
                if isCommand, line.loses(String(decoding: message[5..<(length - 1)], as: UTF8.self)) {
                    isLosing = true
                }
                // Ready for the next one: what was asked is done.
                if isLosing, message[0] == UInt8(ascii: "Z") { return }
                isHeld = isHeld || line.isHeld.withLock { $0 }
                if !isHeld, !isLosing { write(message, to: ends.client) }
            }
        }
    }

    /// `nil` at the end.
    private static func read(_ socket: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    private static func write(_ bytes: [UInt8], to socket: Int32) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }
}
