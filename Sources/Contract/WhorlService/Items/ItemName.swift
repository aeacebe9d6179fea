// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// The name of a secret or a key: text that can be typed, shown, sorted and compared without surprises.
///
/// It has letters and digits of any script, inner spaces, and `-_.@+:`. It has no characters that a terminal, a shell
/// or a path interprets, and no invisible ones. Two spellings that are equal by Unicode's rules (NFC) are one name.
///
/// Names are compared, hashed, sorted and stored by the bytes of ``text``. What the service stores is the form that the
/// service itself made of the text in a call, whatever the caller's library made of it.
public struct ItemName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The longest name, in bytes of UTF-8.
    public static let longest = 255

    /// The name in NFC.
    public let text: String

    /// Makes a name from a text.
    ///
    /// - Throws: `nameRefused`, whose message says why.
    public init(_ text: String) throws(ServiceError) {
        guard !text.isEmpty else { throw ServiceError(refusal: .empty) }
        // This is checked first: normalizing may make a text three times as long.
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

    /// Whether both names have the same bytes.
    public static func == (left: ItemName, right: ItemName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// The order of the scalars' values, which is the same everywhere.
    public static func < (left: ItemName, right: ItemName) -> Bool {
        left.text.unicodeScalars.lexicographicallyPrecedes(right.text.unicodeScalars)
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if isLetterOrDigit(scalar) { return true }
        return switch scalar.properties.generalCategory {
        // Marks belong to the letter before them in the scripts that need them.
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
    /// The reason why a text is not a name.
    fileprivate enum Refusal {
        /// The text is empty.
        case empty
        /// The text has more bytes of UTF-8 than ``ItemName/longest``.
        case tooLong(bytes: Int)
        /// The text holds a character that names may not have.
        case character(UInt32)
        /// The text does not begin with a letter or digit, or ends with a space.
        case edge

        var message: String {
            switch self {
            case .empty: "The name is empty."
            case .tooLong(let bytes):
                "The name is too long: \(bytes) bytes, and \(ItemName.longest) is the most."
            case .character(let value):
                // Only the number is shown: the character itself may be unsafe for a terminal.
                "The name holds U+\(hex(value)), which names do not have."
            case .edge: "The name has to begin with a letter or a digit, and not to end with a space."
            }
        }

        private func hex(_ value: UInt32) -> String {
            let digits = String(value, radix: 16, uppercase: true)
            return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
    }
}
