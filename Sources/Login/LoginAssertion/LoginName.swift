// SPDX-License-Identifier: Apache-2.0

/// What a server calls a user or a device: text that may be compared byte by byte, and shown.
public struct LoginName: Sendable, Hashable, CustomStringConvertible {
    /// The longest, in bytes of UTF-8.
    public static let longest = 128

    /// 1 to 128 bytes of UTF-8.
    public let text: String

    /// The text.
    public var description: String { text }

    /// What is not seen or changes what is seen: control characters, soft hyphen, zero width, direction, line and
    /// paragraph separators, byte order mark, annotations, tags.
    ///
    /// A list, since Unicode's own categories grow, and two sides may know two versions of it.
    private static let hidden: [ClosedRange<UInt32>] = [
        0x00...0x1F, 0x7F...0x9F, 0xAD...0xAD, 0x61C...0x61C, 0x180E...0x180E, 0x200B...0x200F,
        0x2028...0x202E,
        0x2060...0x206F, 0xFEFF...0xFEFF, 0xFFF0...0xFFFF, 0xE0000...0xE0FFF,
    ]

    /// `nil` for an empty or a long text, white space at an end, and what is not seen.
    ///
    /// Texts that look alike are different names: they are compared by their bytes, not by Unicode's equivalence.
    public init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        if text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) {
            // As most names are.
            self.text = text
            return
        }
        guard let first = text.unicodeScalars.first, !first.properties.isWhitespace,
            let last = text.unicodeScalars.last, !last.properties.isWhitespace,
            text.unicodeScalars.allSatisfy(Self.isSeen)
        else { return nil }
        self.text = text
    }

    private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII ? (0x20..<0x7F).contains(scalar.value) : !hidden.contains { $0.contains(scalar.value) }
    }

    /// Names are the same where their bytes are.
    public static func == (left: LoginName, right: LoginName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Goes by the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}
