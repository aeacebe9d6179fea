// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The reader's side of the socket, played by a test.
final class ListeningSocket {
    /// What a call of this class met.
    struct Failure: Error {
        let call: String
        let code = errno
    }

    private let descriptor: CInt

    init(path: String) throws {
        unlink(path)
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafeBytes(of: address) { bytes in
            bind(
                descriptor,
                bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t(bytes.count)
            )
        }
        guard bound == 0, listen(descriptor, 5) == 0 else { throw Failure(call: "listen") }
    }

    deinit {
        close(descriptor)
    }

    /// The next client, within 5 seconds.
    func accept() throws -> Connection {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 5_000) == 1 else { throw Failure(call: "poll") }
        let client = Glibc.accept(descriptor, nil, nil)
        guard client >= 0 else { throw Failure(call: "accept") }
        return Connection(descriptor: client)
    }

    /// One client.
    final class Connection {
        private let descriptor: CInt

        init(descriptor: CInt) {
            self.descriptor = descriptor
        }

        deinit {
            close(descriptor)
        }

        /// So many bytes, or fewer if the client closes or sends nothing for 5 seconds.
        func read(_ count: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            while bytes.count < count {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&waiting, 1, 5_000) == 1 else { break }
                let got = Glibc.read(descriptor, &chunk, min(chunk.count, count - bytes.count))
                guard got > 0 else { break }
                bytes += chunk[..<got]
            }
            return bytes
        }

        /// Everything until the client closes.
        func readToEnd() -> [UInt8] {
            read(.max)
        }
    }
}
