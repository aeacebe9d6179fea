// SPDX-License-Identifier: Apache-2.0

import Glibc
import WhorlSupport

/// The user's SSH agent with keys in the TPM, `whorl-ssh-agent`.
enum SSHAgent {
    /// The socket on which systemd starts the agent.
    static var socket: String { UserFolder.path + "/whorl/ssh-agent.sock" }

    /// Whether the socket exists.
    static var isListening: Bool { access(socket, R_OK | W_OK) == 0 }

    /// The maximum time for the agent to read its list of keys again, in milliseconds.
    private static let patience: Int32 = 2000

    /// Makes a running agent read its list of keys again; does nothing if there is none.
    static func reload() {
        guard isListening, let descriptor = UserSocket.connect(to: socket) else { return }
        defer { close(descriptor) }
        let name = Array("reload@whorl".utf8)
        // A message of an agent (RFC 9987): its length, 27 for an extension, and the extension's name.
        let message = [0, 0, 0, UInt8(5 + name.count), 27, 0, 0, 0, UInt8(name.count)] + name
        guard send(descriptor, message, message.count, Int32(MSG_NOSIGNAL)) == message.count else { return }
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // The agent has the new list once it replies.
        _ = poll(&wait, 1, patience)
    }
}

/// A socket of one of the user's programs.
enum UserSocket {
    /// Connects to a socket; `nil` if no program accepts the connection.
    static func connect(to path: String) -> Int32? {
        guard path.utf8.count < 108 else { return nil }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isConnected = withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) {
                Glibc.connect(descriptor, $0.baseAddress, socklen_t(bytes.count)) == 0
            }
        }
        guard isConnected else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
