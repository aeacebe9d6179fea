// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import NIOCore

/// Whose tries are counted together: an IPv4 address, or the first 64 bits of an IPv6 address, since whoever has one
/// of those has them all (RFC 6177).
struct ClientAddress: Hashable, CustomStringConvertible {
    let description: String

    /// - Parameter text: An address; anything else is `nil`.
    init?(_ text: some StringProtocol) {
        guard let address = try? SocketAddress(ipAddress: String(text), port: 0) else { return nil }
        self.init(address)
    }

    /// `nil` for what has no address, such as a Unix socket.
    init?(_ address: SocketAddress) {
        switch address {
        case .v4:
            guard let text = address.ipAddress else { return nil }
            description = text
        case .v6(let v6):
            let bytes = withUnsafeBytes(of: v6.address.sin6_addr) { Array($0) }
            if bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] {
                description = bytes.suffix(4).map(String.init).joined(separator: ".")
            } else {
                let groups = stride(from: 0, to: 8, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
                description = groups.map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
            }
        case .unixDomainSocket: return nil
        }
    }
}

/// Which proxies are believed when they say for whom they ask.
struct ProxyPolicy: Sendable {
    /// The addresses of the proxies, in the form of `SocketAddress.ipAddress`.
    let trusted: Set<String>

    /// The client's address.
    ///
    /// A trusted proxy appends the address that it sees to `X-Forwarded-For`; what stands before it, anybody may have
    /// written. From any other peer the field is not looked at.
    func client(peer: SocketAddress?, headers: HTTPFields) -> String {
        guard let peer, let direct = ClientAddress(peer) else { return "unknown" }
        guard let address = peer.ipAddress, trusted.contains(address),
            let last = headers[values: .xForwardedFor].last?.split(separator: ",").last,
            let forwarded = ClientAddress(last.trimmingCharacters(in: .whitespaces))
        else { return direct.description }
        return forwarded.description
    }
}

extension HTTPField.Name {
    /// De facto; RFC 7239 describes its successor.
    static let xForwardedFor = HTTPField.Name(parsed: "x-forwarded-for")
}

extension HTTPField.Name {
    private init(parsed text: String) {
        guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is a token of HTTP") }
        self = name
    }
}
