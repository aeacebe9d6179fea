// SPDX-License-Identifier: Apache-2.0

/// The origin that identifies a server in an assertion: scheme, host and port, such as `https://bank.example` (RFC
/// 6454, 6.1).
///
/// Origins are equal only if their texts are equal, so each origin has exactly one text: lower case, no path, no
/// default port.
public struct LoginOrigin: Sendable, Hashable, CustomStringConvertible {
    /// The text, at most 255 bytes.
    public let text: String

    /// The text of the origin.
    public var description: String { text }

    /// Creates an origin; returns `nil` if the text is not exactly that of an origin, or if it is `http` to another
    /// machine.
    ///
    /// - Parameter text: `https://host`, `https://host:port`; `http` is accepted only if the host is `localhost`,
    ///   `127.0.0.1` or `[::1]`, because nothing is then sent over a network.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= 255, let slashes = bytes.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let isSecure: Bool
        switch String(decoding: bytes[..<slashes], as: UTF8.self) {
        case "https:": isSecure = true
        case "http:": isSecure = false
        default: return nil
        }
        guard bytes[slashes...].starts(with: "//".utf8) else { return nil }
        let (host, port) = Self.split(bytes[(slashes + 2)...])
        guard Self.isName(host) || Self.isIPv6(host) else { return nil }
        if let port {
            guard let number = Self.port(port), number != (isSecure ? 443 : 80) else { return nil }
        }
        guard isSecure || ["localhost", "127.0.0.1", "[::1]"].contains(String(decoding: host, as: UTF8.self))
        else { return nil }
        self.text = text
    }

    /// Splits an authority into the host and the text that follows the colon.
    private static func split(_ bytes: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
        let bracket = bytes.lastIndex(of: UInt8(ascii: "]")) ?? bytes.startIndex
        guard let colon = bytes[bracket...].firstIndex(of: UInt8(ascii: ":")) else { return (bytes, nil) }
        return (bytes[..<colon], bytes[(colon + 1)...])
    }

    /// Returns whether a host consists of lower-case letters and digits, with dots and hyphens between them.
    private static func isName(_ host: ArraySlice<UInt8>) -> Bool {
        guard let first = host.first, let last = host.last, isAlphanumeric(first), isAlphanumeric(last) else {
            return false
        }
        return host.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    }

    /// Returns whether a host looks like an address in brackets; checks only its characters.
    private static func isIPv6(_ host: ArraySlice<UInt8>) -> Bool {
        guard host.count > 2, host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") else {
            return false
        }
        return host.dropFirst().dropLast().allSatisfy { "0123456789abcdef:.".utf8.contains($0) }
    }

    /// Returns a port from 1 to 65,535, without a leading zero.
    private static func port(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard let first = digits.first, (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(first) else {
            return nil
        }
        return UInt16(String(decoding: digits, as: UTF8.self))
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
