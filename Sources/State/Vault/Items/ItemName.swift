// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The name of a secret or a key: text that can be typed, shown, sorted and compared without surprises.
///
/// Letters and digits of any script, spaces inside, and `-_.@+:`. Nothing that a terminal, a shell or a path
/// takes for a command, and nothing that looks like nothing. Two spellings that look the same by Unicode's own
/// rules (NFC) are one name.
public struct ItemName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The longest name, in bytes of UTF-8.
    public static let longest = 255

    /// The name in NFC.
    public let text: String

    /// Takes a name that can be used.
    ///
    /// - Throws: ``VaultError/Code/nameRefused(_:)``.
    public init(_ text: String) throws(VaultError) {
        guard !text.isEmpty else { throw VaultError(.nameRefused(.empty)) }
        // Before anything else looks at all of it: normalising may make a text three times as long.
        guard text.utf8.count <= ItemName.longest else {
            throw VaultError(.nameRefused(.tooLong(bytes: text.utf8.count)))
        }
        let normal = text.precomposedStringWithCanonicalMapping
        guard normal.utf8.count <= ItemName.longest else {
            throw VaultError(.nameRefused(.tooLong(bytes: normal.utf8.count)))
        }
        for scalar in normal.unicodeScalars where !ItemName.isAllowed(scalar) {
            throw VaultError(.nameRefused(.character(scalar.value)))
        }
        guard let first = normal.unicodeScalars.first, ItemName.isLetterOrDigit(first), normal.last != " "
        else { throw VaultError(.nameRefused(.edge)) }
        self.text = normal
    }

    /// The name itself.
    public var description: String { text }

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
            // Hangul fillers are letters that nobody sees.
            !scalar.properties.isDefaultIgnorableCodePoint
        default: false
        }
    }
}

extension ItemName {
    /// Why a text is no name.
    public enum Refusal: Sendable, Hashable {
        /// There is nothing.
        case empty
        /// It has more bytes of UTF-8 than ``ItemName/longest``.
        case tooLong(bytes: Int)
        /// It holds a character that names do not have.
        case character(UInt32)
        /// It does not begin with a letter or digit, or ends with a space.
        case edge

        var message: String {
            switch self {
            case .empty: "The name is empty."
            case .tooLong(let bytes):
                "The name is too long: \(bytes) bytes, and \(ItemName.longest) is the most."
            case .character(let value):
                // The number only: the character itself may be what a terminal should not see.
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
