// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import Foundation
internal import Glibc

/// Where a request comes from: as the audit log shows it, and as it counts.
struct ClientAddress {
    /// At most 64 characters of printable ASCII.
    let text: String
    /// What its tries count for; `nil` where the address is not known.
    let bucketKey: String?

    init(_ address: String) {
        text = String(
            address.unicodeScalars.prefix(64).map { (33...126).contains($0.value) ? Character($0) : "?" }
        )
        bucketKey = address.isEmpty ? nil : "address\n\(Self.network(of: address))"
    }

    /// One text for each IPv4 address and for each IPv6 network of 64 bits, which one customer of a provider has whole.
    private static func network(of address: String) -> String {
        let host = address.prefix { $0 != "%" }
        var four = in_addr()
        if inet_pton(AF_INET, String(host), &four) == 1 { return "4 \(four.s_addr)" }
        var six = in6_addr()
        guard inet_pton(AF_INET6, String(host), &six) == 1 else {
            // A name of another kind, such as a socket's: any length, any characters.
            return "other " + Data(SHA256.hash(data: Data(address.utf8))).base64EncodedString()
        }
        let bytes = withUnsafeBytes(of: six) { Array($0) }
        let mapped = [UInt8](repeating: 0, count: 10) + [255, 255]
        if bytes.starts(with: mapped) {
            let value = bytes.suffix(4).withUnsafeBytes { $0.loadUnaligned(as: in_addr_t.self) }
            return "4 \(value)"
        }
        return "6 " + bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
    }
}
