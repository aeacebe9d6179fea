// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingParty

/// A network of IP addresses as in RFC 4632, such as `10.0.0.0/8`; a single address is a network of one.
struct AddressRange: Sendable, Hashable {
    private let bytes: [UInt8]
    private let bits: Int

    /// Parses a network; returns `nil` for other text, and for a network of all addresses.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ ClientAddress(ip: $0) }),
            let bytes = Self.bytes(of: address)
        else { return nil }
        self.bytes = bytes
        guard parts.count == 2 else {
            bits = 8 * bytes.count
            return
        }
        guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (48...57).contains($0) }),
            let bits = Int(parts[1]),
            (1...8 * bytes.count).contains(bits)
        else { return nil }
        self.bits = bits
    }

    /// Returns whether this network contains an address; `false` for anything other than an IP address.
    func contains(_ address: ClientAddress) -> Bool {
        guard let other = Self.bytes(of: address), other.count == bytes.count else { return false }
        return (0..<bytes.count).allSatisfy { index in
            let wanted = min(8, max(0, bits - 8 * index))
            return (bytes[index] ^ other[index]) >> UInt8(8 - wanted) == 0
        }
    }

    /// Returns the bytes of an address, whose text is canonical.
    private static func bytes(of address: ClientAddress) -> [UInt8]? {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, address.text, &four) == 1 {
            return withUnsafeBytes(of: four) { Array($0) }
        }
        guard inet_pton(AF_INET6, address.text, &six) == 1 else { return nil }
        return withUnsafeBytes(of: six) { Array($0) }
    }
}
