// SPDX-License-Identifier: Apache-2.0

/// What a server calls a user or a device: text that may be compared byte by byte, and shown.
public struct LoginName: Sendable, Hashable, CustomStringConvertible {
    /// The longest, in bytes of UTF-8.
    public static let longest = 128

    /// 1 to 128 bytes of UTF-8.
    public let text: String

    public var description: String { text }

    /// `nil` for an empty or a long text, for white space at an end, and for control, format and unassigned characters.
    ///
    /// Texts that look alike are different names: they are compared by their bytes, not by Unicode's equivalence.
    public init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count),
            let first = text.unicodeScalars.first, !first.properties.isWhitespace,
            let last = text.unicodeScalars.last, !last.properties.isWhitespace,
            text.unicodeScalars.allSatisfy(Self.isPlain)
        else { return nil }
        self.text = text
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: true
        }
    }

    public static func == (left: LoginName, right: LoginName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}
