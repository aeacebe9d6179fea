// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird

/// The address for operators: a port on this machine, or a Unix socket.
public struct OperationsAddress: Sendable, Hashable {
    private enum Place: Hashable {
        case port(host: String, port: Int)
        case socket(path: String)
    }

    private let place: Place

    /// Parses `127.0.0.1:9090`, `[::1]:9090` or `unix:/run/whorl-login/operations.sock`; returns `nil` for other text.
    public init?(_ text: String) {
        if text.hasPrefix("unix:/") {
            place = .socket(path: String(text.dropFirst(5)))
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { return nil }
        place = .port(host: String(host), port: Int(port))
    }

    /// Whether it is reachable only from this machine.
    var isOfThisMachine: Bool {
        switch place {
        case .socket: true
        case .port(let host, _): host == "localhost" || host == "::1" || host.hasPrefix("127.")
        }
    }

    var bind: BindAddress {
        switch place {
        case .socket(let path): .unixDomainSocket(path: path)
        case .port(let host, let port): .hostname(host, port: port)
        }
    }
}
