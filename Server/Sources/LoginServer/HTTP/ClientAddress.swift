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

    /// Makes an address of an element of `X-Forwarded-For`, which may have a port: `192.0.2.1:80`, `[2001:db8::1]:80`.
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

/// The proxies that are trusted to name the client of a request.
struct ProxyPolicy: Sendable {
    private static let forwardedFor = HTTPField.Name("x-forwarded-for")

    private let trusted: [AddressRange]

    /// - Parameter trusted: The networks of the proxies' own addresses.
    init(trusted: [AddressRange]) { self.trusted = trusted }

    /// Whether a peer may send passwords and tokens without TLS: a proxy, which ends TLS itself, and this machine.
    func admitsPlain(_ peer: SocketAddress?) -> Bool {
        guard let address = peer.flatMap(ClientAddress.init) else { return Self.isUnixSocket(peer) }
        return isOwn(address)
    }

    /// Whether an address belongs to this machine, or to a proxy with many clients.
    func isOwn(_ address: ClientAddress) -> Bool { address.isLoopback || isTrusted(address) }

    private func isTrusted(_ address: ClientAddress) -> Bool { trusted.contains { $0.contains(address) } }

    /// Whether a peer comes by a Unix socket: the permissions of its directory say that it is a proxy.
    private static func isUnixSocket(_ peer: SocketAddress?) -> Bool {
        guard case .unixDomainSocket = peer else { return false }
        return true
    }

    /// Returns the client's address.
    ///
    /// Each proxy appends the address that it sees to `X-Forwarded-For`; the text before that of the first trusted proxy
    /// may come from any client. So the elements are read from the last one, as long as a trusted proxy has written
    /// them. From any other peer the field is ignored.
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

    /// Whether a request seems to come by a proxy on this machine that is not trusted, so that all of its clients count
    /// as one.
    func overlooks(peer: SocketAddress?, headers: HTTPFields) -> Bool {
        guard let direct = peer.flatMap(ClientAddress.init), direct.isLoopback else { return false }
        return !isTrusted(direct) && !Self.elements(headers).isEmpty
    }

    private static func elements(_ headers: HTTPFields) -> [Substring] {
        guard let forwardedFor else { return [] }
        return headers[values: forwardedFor].flatMap { $0.split(separator: ",") }
    }
}
