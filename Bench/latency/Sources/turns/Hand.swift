// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Puts pictures on libfprint's virtual image reader.
final class Hand {
    /// How long the reader has to take the connection and to come to rest, in microseconds: a person is slower.
    private static let rest: useconds_t = 5_000
    private static let width: Int32 = 192

    private let path: String
    private var connection: CInt = -1

    init(path: String) { self.path = path }

    deinit { if connection >= 0 { close(connection) } }

    /// Puts one picture on the reader, which waits for it.
    ///
    /// - Returns: When its last byte was written, in nanoseconds of `CLOCK_MONOTONIC`.
    func put(_ picture: [UInt8]) throws -> Int {
        if connection >= 0 { close(connection) }
        connection = try connected()
        usleep(Self.rest)
        let size = [Self.width, Int32(picture.count) / Self.width]
        let bytes = size.withUnsafeBytes { Array($0) } + picture
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                let rest = UnsafeRawBufferPointer(rebasing: $0[sent...])
                return write(connection, rest.baseAddress, rest.count)
            }
            guard count > 0 else { throw Failure(text: "the reader at \(path) hung up") }
            sent += count
        }
        return now()
    }

    private func connected() throws -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isConnected else { throw Failure(text: "no reader at \(path)") }
        return descriptor
    }

    private func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
