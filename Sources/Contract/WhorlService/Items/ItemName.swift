// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// The name of a secret or a key: text that can be typed, shown, sorted and compared without surprises.
///
/// A name consists of letters and digits of any script, inner spaces, and `-_.@+:`. Invisible characters, and
/// characters that a terminal, a shell or a path interprets, are not allowed. Two spellings that are equal by Unicode's
/// rules (NFC) are the same name.
///
/// Names are compared, hashed, sorted and stored by the bytes of ``text``. The service normalizes the text of each call
/// itself, and does not rely on the form from the caller's library.
public struct ItemName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The maximum length of a name in UTF-8 bytes.
    public static let longest = 255

    /// The name in NFC.
    public let text: String

    /// Creates a name from a text.
    ///
    /// - Throws: `nameRefused`, whose message contains the reason.
    public init(_ text: String) throws(ServiceError) {
        guard !text.isEmpty else { throw ServiceError(refusal: .empty) }
        // Check this first, because normalization can make a text three times as long.
        guard text.utf8.count <= ItemName.longest else {
            throw ServiceError(refusal: .tooLong(bytes: text.utf8.count))
        }
        let normal = text.composed
        guard normal.utf8.count <= ItemName.longest else {
            throw ServiceError(refusal: .tooLong(bytes: normal.utf8.count))
        }
        for scalar in normal.unicodeScalars where !ItemName.isAllowed(scalar) {
            throw ServiceError(refusal: .character(scalar.value))
        }
        guard let first = normal.unicodeScalars.first, ItemName.isLetterOrDigit(first),
            normal.utf8.last != UInt8(ascii: " ")
        else { throw ServiceError(refusal: .edge) }
        self.text = normal
    }

    /// The name itself.
    public var description: String { text }

    /// Returns whether both names have the same bytes.
    public static func == (left: ItemName, right: ItemName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Compares the values of the Unicode scalars, which gives the same order everywhere.
    public static func < (left: ItemName, right: ItemName) -> Bool {
        left.text.unicodeScalars.lexicographicallyPrecedes(right.text.unicodeScalars)
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if isLetterOrDigit(scalar) { return true }
        return switch scalar.properties.generalCategory {
        // In the scripts that need them, marks belong to the letter before them.
        case .nonspacingMark, .spacingMark: !scalar.properties.isVariationSelector
        default: " -_.@+:".unicodeScalars.contains(scalar)
        }
    }

    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .decimalNumber:
            // Hangul fillers are invisible letters.
            !scalar.properties.isDefaultIgnorableCodePoint
        default: false
        }
    }
}

extension ServiceError {
    fileprivate init(refusal: ItemName.Refusal) { self.init(.nameRefused, message: refusal.message) }
}

extension ItemName {
    /// The reason why a text is not a valid name.
    fileprivate enum Refusal {
        /// The text is empty.
        case empty
        /// The text has more UTF-8 bytes than ``ItemName/longest``.
        case tooLong(bytes: Int)
        /// The text contains a character that is not allowed.
        case character(UInt32)
        /// The text does not start with a letter or digit, or ends with a space.
        case edge

        var message: String {
            switch self {
            case .empty: "The name is empty."
            case .tooLong(let bytes):
                "The name is too long: \(bytes) bytes; the maximum is \(ItemName.longest)."
            case .character(let value):
                // Show only the number: the character itself may be unsafe for a terminal.
                "The name contains U+\(hex(value)), which is not allowed."
            case .edge: "The name must start with a letter or digit, and must not end with a space."
            }
        }

        private func hex(_ value: UInt32) -> String {
            let digits = String(value, radix: 16, uppercase: true)
            return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
    }
}
