// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// The server's name for a user or a device: text that can be compared byte by byte, and displayed.
public struct LoginName: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length in bytes of UTF-8.
    public static let longest = 128

    /// The text, 1 to 128 bytes of UTF-8.
    public let text: String

    /// The text of the name.
    public var description: String { text }

    /// Characters that are invisible or change the visible text: control, zero-width and direction characters, soft
    /// hyphens, line and paragraph separators, byte order marks, annotations and tags.
    ///
    /// The list is fixed, because Unicode's categories grow and the two sides may use different versions of Unicode.
    private static let hidden: [ClosedRange<UInt32>] = [
        0x00...0x1F, 0x7F...0x9F, 0xAD...0xAD, 0x61C...0x61C, 0x180E...0x180E, 0x200B...0x200F,
        0x2028...0x202E,
        0x2060...0x206F, 0xFEFF...0xFEFF, 0xFFF0...0xFFFF, 0xE0000...0xE0FFF,
    ]

    /// Creates a name; returns `nil` if the text is empty or too long, starts or ends with white space, or contains
    /// invisible characters.
    ///
    /// Some keyboards and systems write `é` as one character, others as a letter and an accent. Both result in the same
    /// name, in composed form (NFC, RFC 8265, 3.4). Other texts that look alike are different names, as are `anna` and
    /// `Anna`.
    public init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        if text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) {
            // True for most names.
            self.text = text
            return
        }
        let text = text.composed
        guard text.utf8.count <= Self.longest,
            let first = text.unicodeScalars.first, !first.properties.isWhitespace,
            let last = text.unicodeScalars.last, !last.properties.isWhitespace,
            text.unicodeScalars.allSatisfy(Self.isSeen)
        else { return nil }
        self.text = text
    }

    private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII ? (0x20..<0x7F).contains(scalar.value) : !hidden.contains { $0.contains(scalar.value) }
    }

    /// Returns whether the names have the same bytes.
    public static func == (left: LoginName, right: LoginName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Hashes the bytes of the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}

extension LoginOrigin {
    /// Creates the origin of a URL that a user typed or pasted; returns `nil` if it does not name a server.
    ///
    /// Capital letters, a default port and a trailing slash are accepted. A non-ASCII name is converted to its A-label
    /// (RFC 5890), as browsers do.
    public init?(entered text: String) {
        guard let slashes = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<slashes.lowerBound].lowercased()
        var authority = String(text[slashes.upperBound...])
        if authority.hasSuffix("/") { authority.removeLast() }
        if let port = scheme == "https" ? ":443" : scheme == "http" ? ":80" : nil, authority.hasSuffix(port) {
            authority.removeLast(port.count)
        }
        if !authority.utf8.allSatisfy({ $0 < 0x80 }) {
            guard let (name, rest) = Self.aLabel(of: authority) else { return nil }
            authority = name + rest
        }
        self.init("\(scheme)://\(authority.lowercased())")
    }

    /// Returns the A-label of a non-ASCII host, along with the text after the host.
    private static func aLabel(of authority: String) -> (String, Substring)? {
        let end = authority.lastIndex(of: ":") ?? authority.endIndex
        guard !authority.contains(where: { "/@?#%[]".contains($0) }),
            let label = DomainName.aLabel(of: authority[..<end].lowercased())
        else { return nil }
        return (label, authority[end...])
    }

    /// The service of a token that can change how a user signs in.
    ///
    /// Such a token is accepted only for enabling and revoking devices (Docs/LoginProtocol.md).
    public var credentialsService: String { text + "/v1/devices" }
}
