// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import Glibc

/// The address of a client, used for logs and rate limits.
public struct ClientAddress: Sendable, Hashable {
    /// The address as text: at most 64 characters of printable ASCII; an IP address in its shortest form, an
    /// IPv4-mapped IPv6 address as IPv4.
    public let text: String
    /// The network that shares a rate limit; `nil` if the address is unknown.
    ///
    /// It is an IPv4 address, or the first 64 bits of an IPv6 address, because all addresses with the same 64 bits
    /// belong to one customer of a provider (RFC 6177).
    public let network: String?
    /// The 56-bit and 48-bit networks that contain an IPv6 address, which may belong to one customer (RFC 6177); empty
    /// for other addresses.
    public let widerNetworks: [String]
    /// Whether the address is a loopback address (RFC 6890).
    public let isLoopback: Bool

    /// Creates an address from the text by which a server knows its client: an IP address, another name such as that of
    /// a socket, or an empty string.
    public init(_ address: String) {
        let ip = IPAddress(address.prefix { $0 != "%" })
        if let ip, !address.contains("%") {
            text = ip.text
        } else {
            text = String(
                address.unicodeScalars.prefix(64).map {
                    (33...126).contains($0.value) ? Character($0) : "?"
                }
            )
        }
        isLoopback = ip?.isLoopback ?? false
        widerNetworks = ip?.widerNetworks ?? []
        if address.isEmpty {
            network = nil
        } else {
            // Other names may have any length and any characters.
            network =
                ip?.network
                ?? "other " + Data(SHA256.hash(data: Data(address.utf8))).base64EncodedString()
        }
    }

    /// Creates an address from an IP address; returns `nil` for any other text, including an address with a port, a
    /// zone or white space.
    public init?(ip address: some StringProtocol) {
        guard IPAddress(address) != nil else { return nil }
        self.init(String(address))
    }

    /// The key of the bucket that counts attempts from this address.
    var bucketKey: String? { network.map { "address\n\($0)" } }
}

/// The bytes of an IP address: 4 for IPv4, 16 for IPv6.
private struct IPAddress {
    private let bytes: [UInt8]

    init?(_ text: some StringProtocol) {
        // C functions would stop at a zero byte.
        guard !text.utf8.contains(0) else { return nil }
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, String(text), &four) == 1 {
            bytes = withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, String(text), &six) == 1 {
            let all = withUnsafeBytes(of: six) { Array($0) }
            // RFC 4291, 2.5.5.2: IPv4 on a socket of IPv6.
            let isMapped = all.starts(with: [UInt8](repeating: 0, count: 10) + [255, 255])
            bytes = isMapped ? Array(all.suffix(4)) : all
        } else {
            return nil
        }
    }

    var text: String {
        if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else {
            preconditionFailure("16 bytes are an address of IPv6")
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }

    var network: String {
        bytes.count == 4
            ? "4 \(text)" : "6 " + bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
    }

    var widerNetworks: [String] {
        guard bytes.count == 16 else { return [] }
        return [7, 6].map { count in
            "6/\(8 * count) " + bytes.prefix(count).map { String($0, radix: 16) }.joined(separator: ":")
        }
    }

    var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }
}
