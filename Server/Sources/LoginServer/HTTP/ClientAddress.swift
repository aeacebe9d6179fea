// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import RelyingParty

extension ClientAddress {
    /// For what has no address.
    static let unknown = ClientAddress("unknown")

    /// `nil` for what has no address, such as a Unix socket.
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        self.init(text)
    }
}

/// Which proxies are believed when they say for whom they ask.
struct ProxyPolicy: Sendable {
    private let trusted: Set<ClientAddress>

    /// - Parameter trusted: The proxies' own addresses.
    init(trusted: [ClientAddress]) { self.trusted = Set(trusted) }

    /// Whether a peer may send passwords and tokens without TLS: a proxy, which has TLS before it, and this machine.
    func admitsPlain(_ peer: SocketAddress?) -> Bool {
        guard let address = peer.flatMap(ClientAddress.init) else { return false }
        return isOwn(address)
    }

    /// Whether an address is this machine's, or a proxy's that many stand behind.
    func isOwn(_ address: ClientAddress) -> Bool { address.isLoopback || trusted.contains(address) }

    /// The client's address.
    ///
    /// A trusted proxy appends the address that it sees to `X-Forwarded-For`; what stands before it, anybody may have
    /// written. From any other peer the field is not looked at.
    func client(peer: SocketAddress?, headers: HTTPFields) -> ClientAddress {
        guard let direct = peer.flatMap(ClientAddress.init) else { return .unknown }
        guard trusted.contains(direct), let field = HTTPField.Name("x-forwarded-for"),
            let last = headers[values: field].last?.split(separator: ",").last
        else { return direct }
        return ClientAddress(ip: last.trimmingCharacters(in: .whitespaces)) ?? direct
    }
}
