// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import RelyingParty

extension ClientAddress {
    /// The address of a connection without one.
    static let unknown = ClientAddress("unknown")

    /// Creates an address from a socket address; returns `nil` if it is not an IP address, such as a Unix socket.
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        self.init(text)
    }

    /// Creates an address from an element of `X-Forwarded-For`, which may contain a port: `192.0.2.1:80`,
    /// `[2001:db8::1]:80`.
    init?(forwarded element: some StringProtocol) {
        var text = element.trimmingCharacters(in: .whitespaces)
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            text = String(text[text.index(after: text.startIndex)..<end])
        } else if text.count(where: { $0 == ":" }) == 1, let colon = text.firstIndex(of: ":") {
            text = String(text[..<colon])
        }
        self.init(ip: text)
    }
}

/// The proxies that are trusted to report the client of a request.
struct ProxyPolicy: Sendable {
    private static let forwardedFor = HTTPField.Name("x-forwarded-for")

    private let trusted: [AddressRange]

    /// Creates a policy.
    ///
    /// - Parameter trusted: The networks of the proxies.
    init(trusted: [AddressRange]) { self.trusted = trusted }

    /// Returns whether a peer may send passwords and tokens without TLS: this machine, or a proxy, which terminates TLS
    /// itself.
    func admitsPlain(_ peer: SocketAddress?) -> Bool {
        guard let address = peer.flatMap(ClientAddress.init) else { return Self.isUnixSocket(peer) }
        return isOwn(address)
    }

    /// Returns whether an address belongs to this machine, or to a proxy with many clients.
    func isOwn(_ address: ClientAddress) -> Bool { address.isLoopback || isTrusted(address) }

    private func isTrusted(_ address: ClientAddress) -> Bool { trusted.contains { $0.contains(address) } }

    /// Returns whether a peer uses a Unix socket; the permissions of its directory ensure that it is a proxy.
    private static func isUnixSocket(_ peer: SocketAddress?) -> Bool {
        guard case .unixDomainSocket = peer else { return false }
        return true
    }

    /// Returns the client's address.
    ///
    /// Each proxy appends the address it sees to `X-Forwarded-For`; anything before the first trusted proxy's element
    /// may come from any client. The elements are therefore read from the end, as long as a trusted proxy wrote them.
    /// The field is ignored for all other peers.
    func client(peer: SocketAddress?, headers: HTTPFields) -> ClientAddress {
        let direct = peer.flatMap(ClientAddress.init) ?? .unknown
        guard isTrusted(direct) || Self.isUnixSocket(peer) else { return direct }
        var client = direct
        for element in Self.elements(headers).reversed() {
            guard let address = ClientAddress(forwarded: element) else { break }
            client = address
            guard isTrusted(address) else { break }
        }
        return client
    }

    /// Returns whether a request seems to come through an untrusted proxy on this machine, so that all of its clients
    /// count as one.
    func overlooks(peer: SocketAddress?, headers: HTTPFields) -> Bool {
        guard let direct = peer.flatMap(ClientAddress.init), direct.isLoopback else { return false }
        return !isTrusted(direct) && !Self.elements(headers).isEmpty
    }

    private static func elements(_ headers: HTTPFields) -> [Substring] {
        guard let forwardedFor else { return [] }
        return headers[values: forwardedFor].flatMap { $0.split(separator: ",") }
    }
}
