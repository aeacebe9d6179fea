// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import RelyingParty

extension ClientAddress {
    /// The address of a connection that has none.
    static let unknown = ClientAddress("unknown")

    /// Makes an address of a socket address; `nil` for one without an IP address, such as a Unix socket.
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        self.init(text)
    }
}

/// The proxies that are trusted to name the client of a request.
struct ProxyPolicy: Sendable {
    private let trusted: Set<ClientAddress>

    /// - Parameter trusted: The proxies' own addresses.
    init(trusted: [ClientAddress]) { self.trusted = Set(trusted) }

    /// Whether a peer may send passwords and tokens without TLS: a proxy, which ends TLS itself, and this machine.
    func admitsPlain(_ peer: SocketAddress?) -> Bool {
        guard let address = peer.flatMap(ClientAddress.init) else { return false }
        return isOwn(address)
    }

    /// Whether an address belongs to this machine, or to a proxy with many clients.
    func isOwn(_ address: ClientAddress) -> Bool { address.isLoopback || trusted.contains(address) }

    /// Returns the client's address.
    ///
    /// A trusted proxy appends the address that it sees to `X-Forwarded-For`; the text before it may come from any
    /// client. From any other peer the field is ignored.
    func client(peer: SocketAddress?, headers: HTTPFields) -> ClientAddress {
        guard let direct = peer.flatMap(ClientAddress.init) else { return .unknown }
        guard trusted.contains(direct), let field = HTTPField.Name("x-forwarded-for"),
            let last = headers[values: field].last?.split(separator: ",").last
        else { return direct }
        return ClientAddress(ip: last.trimmingCharacters(in: .whitespaces)) ?? direct
    }
}
