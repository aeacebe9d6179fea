// SPDX-License-Identifier: Apache-2.0

import CKioskGTK
import Glibc
import Kiosk

/// The connection to greetd, on GTK's thread.
///
/// It never waits for a response.
@MainActor
final class Connection {
    private let descriptor: Int32
    private let receive: (Greeting.Event) -> Void
    private var frames = Frames()

    /// Connects to greetd's socket, whose path is in the environment; `nil` without one.
    init?(_ receive: @escaping (Greeting.Event) -> Void) {
        guard let path = getenv("GREETD_SOCK").map({ String(cString: $0) }) else { return nil }
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.receive = receive
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let size = MemoryLayout.size(ofValue: address.sun_path)
        guard descriptor >= 0, path.utf8.count < size else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isOpen = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isOpen else {
            close(descriptor)
            return nil
        }
        listen()
    }

    /// Sends a request.
    ///
    /// A message is much smaller than the socket's buffer, so a send that would block is an error.
    func send(_ request: Request) {
        let message = request.message
        let sent = message.read { bytes in
            Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
        if sent != message.count { receive(.lost) }
    }

    private func listen() {
        let ready: GUnixFDSourceFunc = { _, _, data in
            guard let data else { return 0 }
            let connection = Unmanaged<Connection>.fromOpaque(data).takeUnretainedValue()
            return MainActor.assumeIsolated { connection.read() } ? 1 : 0
        }
        // The connection exists as long as the program.
        let this = Unmanaged.passRetained(self).toOpaque()
        let conditions = GIOCondition(rawValue: G_IO_IN.rawValue | G_IO_HUP.rawValue | G_IO_ERR.rawValue)
        g_unix_fd_add(descriptor, conditions, ready, this)
    }

    /// Reads received bytes, and passes on complete responses.
    private func read() -> Bool {
        var room = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &room, room.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return true }
        guard count > 0 else {
            receive(.lost)
            return false
        }
        frames.append(room[..<count])
        while true {
            switch frames.next() {
            case .more: return true
            case .message(let message): receive(Answer(message).map(Greeting.Event.answer) ?? .lost)
            case .broken:
                receive(.lost)
                return false
            }
        }
    }
}
