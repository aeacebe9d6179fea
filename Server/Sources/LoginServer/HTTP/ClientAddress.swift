// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import NIOCore

/// Where a request comes from.
struct ClientAddress: Hashable {
    /// The address, `unknown` for none; one of IPv4 in the clothes of IPv6 is written as IPv4.
    let text: String
    /// Whose tries are counted together: an IPv4 address, or the first 64 bits of an IPv6 address, since whoever has
    /// one of those has them all (RFC 6177).
    let group: String

    static let unknown = ClientAddress(text: "unknown", group: "unknown")

    private init(text: String, group: String) {
        self.text = text
        self.group = group
    }

    /// `nil` for a text that is no address.
    init?(_ text: some StringProtocol) {
        guard let address = try? SocketAddress(ipAddress: String(text), port: 0) else { return nil }
        self.init(address)
    }

    /// `nil` for what has no address, such as a Unix socket.
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        guard case .v6(let v6) = address else {
            self.init(text: text, group: text)
            return
        }
        let bytes = withUnsafeBytes(of: v6.address.sin6_addr) { Array($0) }
        if bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] {
            let v4 = bytes.suffix(4).map(String.init).joined(separator: ".")
            self.init(text: v4, group: v4)
        } else {
            let groups = stride(from: 0, to: 8, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
            self.init(
                text: text,
                group: groups.map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
            )
        }
    }
}

extension ClientAddress {
    /// Whether it is this machine's own.
    var isLoopback: Bool { text.hasPrefix("127.") || text == "::1" }
}

/// Which proxies are believed when they say for whom they ask.
struct ProxyPolicy: Sendable {
    private let trusted: Set<ClientAddress>

    /// - Parameter trusted: The proxies' own addresses.
    init(trusted: [ClientAddress]) { self.trusted = Set(trusted) }

    /// Whether a peer may send passwords and tokens without TLS: a proxy, which has TLS before it, and this machine.
    func admitsPlain(_ peer: SocketAddress?) -> Bool {
        guard let address = peer.flatMap(ClientAddress.init) else { return false }
        return address.isLoopback || trusted.contains(address)
    }

    /// The client's address.
    ///
    /// A trusted proxy appends the address that it sees to `X-Forwarded-For`; what stands before it, anybody may have
    /// written. From any other peer the field is not looked at.
    func client(peer: SocketAddress?, headers: HTTPFields) -> ClientAddress {
        guard let direct = peer.flatMap(ClientAddress.init) else { return .unknown }
        guard trusted.contains(direct), let field = HTTPField.Name("x-forwarded-for"),
            let last = headers[values: field].last?.split(separator: ",").last
        else { return direct }
        return ClientAddress(last.trimmingCharacters(in: .whitespaces)) ?? direct
    }
}
