// SPDX-License-Identifier: Apache-2.0

import CWhorlSocket
import ChildPipe
import Foundation
import Glibc

/// A bus of a test's own, which ends with the process that made it.
struct PrivateBus {
    /// Whether dbus-daemon is there; tests skip without, or fail when `REQUIRE_PEERS` is set.
    static let isAvailable =
        FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon")
        || ProcessInfo.processInfo.environment["REQUIRE_PEERS"] != nil

    private let folder: URL
    private let input: ChildPipe
    private let process = ChildProgram()

    var socket: String { folder.appending(path: "bus").path }

    /// Starts a bus, and makes it the system's one for this process.
    init() throws {
        // Short: the path of a Unix socket has 107 bytes.
        folder = FileManager.default.temporaryDirectory
            .appending(path: "whorl-bus-\(UUID().uuidString.prefix(13))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let configuration = folder.appending(path: "conf")
        let path = folder.appending(path: "bus").path
        try """
        <busconfig><listen>unix:path=\(path)</listen><auth>EXTERNAL</auth><policy context="default">
        <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy></busconfig>
        """.write(to: configuration, atomically: true, encoding: .utf8)
        input = try ChildPipe()
        process.executableURL = URL(filePath: "/bin/sh")
        // The end of its input comes with the end of this process; the process may have SIGTERM blocked.
        process.arguments = [
            "-c", "/usr/bin/dbus-daemon --nofork --config-file=\"$0\" </dev/null & read line; kill -9 $!",
            configuration.path,
        ]
        process.standardInput = input.reading
        try process.start()
        setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=\(path)", 1)
    }

    func end() throws {
        try input.writing.close()
        process.waitForEnd()
        try FileManager.default.removeItem(at: folder)
    }

    /// Connects a client, as soon as the bus listens.
    func client() throws -> RawBusClient {
        for _ in 0..<500 {
            if let client = try RawBusClient(at: socket) { return client }
            usleep(20_000)
        }
        throw RawBusClient.Failure(what: "the bus does not listen")
    }
}

/// A client of a bus that speaks D-Bus itself, also what no library would send.
final class RawBusClient {
    struct Failure: Error { let what: String }

    /// A message that came.
    struct Message {
        let type: UInt8
        let serial: UInt32
        /// The header fields that are texts or numbers, by their codes.
        let fields: [UInt8: String]
        let body: [UInt8]
    }

    private let socket: CInt
    private var serial: UInt32 = 0
    private(set) var name = ""

    /// Connects, with the right to send descriptors; `nil` if nothing listens there.
    init?(at path: String) throws {
        socket = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) }
        }
        guard connected == 0 else { return nil }
        let user = String(geteuid()).utf8.map { String($0, radix: 16) }.joined()
        for line in ["\0AUTH EXTERNAL \(user)", "NEGOTIATE_UNIX_FD"] {
            try write(Array("\(line)\r\n".utf8))
            while try read(1) != [0x0A] {}
        }
        try write(Array("BEGIN\r\n".utf8))
        let hello = try call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello")
        name = String(decoding: hello.body.dropFirst(4).dropLast(), as: UTF8.self)
    }

    deinit { close(socket) }

    private func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.littleEndian, Array.init) }

    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(what: "the bus has hung up") }
            rest = rest.dropFirst(count)
        }
    }

    private func read(_ count: Int) throws -> [UInt8] {
        var read = [UInt8](repeating: 0, count: count)
        guard count == 0 || recv(socket, &read, count, CInt(MSG_WAITALL)) == count else {
            throw Failure(what: "the bus has hung up")
        }
        return read
    }

    /// Sends a message whose body is an array of variants with a byte each, of so many bytes, or none.
    @discardableResult
    func send(
        _ type: UInt8,
        _ texts: [(code: UInt8, type: Character, text: String)],
        answering: UInt32? = nil,
        variants: Int = 0,
        descriptor: CInt? = nil
    ) throws -> UInt32 {
        serial += 1
        var fields: [UInt8] = []
        func add(_ field: [UInt8]) {
            while fields.count % 8 != 0 { fields.append(0) }
            fields += field
        }
        for (code, kind, text) in texts {
            add([code, 1, kind.asciiValue ?? 0, 0] + bytes(UInt32(text.utf8.count)) + Array(text.utf8) + [0])
        }
        if let answering { add([5, 1, UInt8(ascii: "u"), 0] + bytes(answering)) }
        if descriptor != nil {
            add([8, 1, UInt8(ascii: "g"), 0, 1, UInt8(ascii: "h"), 0])
            add([9, 1, UInt8(ascii: "u"), 0] + bytes(1))
        } else if variants > 0 {
            add([8, 1, UInt8(ascii: "g"), 0, 2, UInt8(ascii: "a"), UInt8(ascii: "v"), 0])
        }
        let body = descriptor != nil ? 4 : variants == 0 ? 0 : 4 + variants
        var message =
            [UInt8(ascii: "l"), type, 0, 1] + bytes(UInt32(body)) + bytes(serial)
            + bytes(UInt32(fields.count)) + fields
        while message.count % 8 != 0 { message.append(0) }
        if let descriptor {
            message += bytes(0)
            // The call does not wait, and a large message before this one may not have been read yet.
            var place = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
            guard poll(&place, 1, 60_000) == 1,
                whorl_send(socket, message, message.count, [descriptor], 1) == message.count
            else {
                throw Failure(what: "no room")
            }
            return serial
        }
        if variants > 0 { message += bytes(UInt32(variants)) }
        try write(message)
        // In pieces: this may be the process whose memory is measured.
        let piece = Array(repeating: [1, UInt8(ascii: "y"), 0, 0] as [UInt8], count: 1_024).flatMap(\.self)
        for start in stride(from: 0, to: variants, by: piece.count) {
            try write(Array(piece.prefix(variants - start)))
        }
        return serial
    }

    /// Calls a method without arguments, and waits for the answer.
    func call(_ to: String, _ path: String, _ interface: String, _ member: String) throws -> Message {
        let number = try send(1, [(1, "o", path), (2, "s", interface), (3, "s", member), (6, "s", to)])
        while true {
            let message = try next()
            if message.fields[5] == "\(number)" { return message }
        }
    }

    /// Returns the next message.
    func next() throws -> Message {
        func number(_ bytes: some Collection<UInt8>) -> UInt32 {
            bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        let header = try read(16)
        let size = Int(number(header[12..<16]))
        let bytes = try read((size + 7) / 8 * 8)
        var fields: [UInt8: String] = [:]
        var place = 0
        while place + 4 < size {
            let (code, kind) = (bytes[place], bytes[place + 2])
            place += 4
            if kind == UInt8(ascii: "g") {
                place += Int(bytes[place]) + 2
            } else {
                let value = number(bytes[place..<place + 4])
                place += 4
                if kind == UInt8(ascii: "u") {
                    fields[code] = "\(value)"
                } else {
                    fields[code] = String(decoding: bytes[place..<place + Int(value)], as: UTF8.self)
                    place += Int(value) + 1
                }
            }
            place = (place + 7) / 8 * 8
        }
        let body = try read(Int(number(header[4..<8])))
        return Message(type: header[1], serial: number(header[8..<12]), fields: fields, body: body)
    }
}
