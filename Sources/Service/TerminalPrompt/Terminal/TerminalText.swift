// SPDX-License-Identifier: Apache-2.0

internal import Authentication
internal import WhorlSupport

/// Text from outside, made to fit a line of a terminal.
package enum TerminalText {
    /// The text without anything that acts on a terminal, in at most `columns` columns.
    ///
    /// - Parameters:
    ///   - text: Anything.
    ///   - columns: How many columns there are; a wider text ends in an ellipsis.
    ///   - ascii: For terminals that do not read UTF-8: there, a byte of a letter may be a command (0x9B is CSI),
    ///     so that every character beyond ASCII becomes a question mark.
    /// - Returns: One line, without its end.
    package static func line(_ text: String, columns: Int, ascii: Bool = false) -> String {
        let clean = DisplayText.clean(text, limit: max(columns, 0) + 1)
        return cut(ascii ? inASCII(clean) : clean, to: columns, ellipsis: ascii ? "." : "…")
    }

    /// The text with a question mark for each character beyond ASCII.
    package static func inASCII(_ text: String) -> String {
        String(text.map { $0.isASCII ? $0 : "?" })
    }

    /// The text in at most `columns` columns, with an ellipsis where something was cut off.
    package static func cut(_ text: String, to columns: Int, ellipsis: Character = "…") -> String {
        guard width(of: text) > columns else { return text }
        var kept = ""
        var used = 1  // the ellipsis
        for character in text {
            used += width(of: character)
            guard used <= columns else { break }
            kept.append(character)
        }
        return columns > 0 ? kept + String(ellipsis) : ""
    }

    /// The text with spaces after it up to `columns` columns.
    package static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - width(of: text)))
    }

    /// How many columns the text takes.
    package static func width(of text: String) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    /// How many columns one character takes: 2 for East Asian wide characters and for emoji, else 1.
    ///
    /// Terminals disagree about characters that are made of several scalars. The sum of the scalars' widths is the
    /// most that any of them takes, so that a line that is cut by this measure never wraps.
    static func width(of character: Character) -> Int {
        if character.unicodeScalars.contains("\u{FE0F}") { return 2 }  // asks for the emoji form
        return max(1, character.unicodeScalars.reduce(0) { $0 + width(of: $1) })
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The blocks whose characters are wide (Unicode 15, East_Asian_Width W and F, rounded outwards to blocks).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F,  // Hangul Jamo, initial consonants
        0x2E80...0x303E,  // CJK radicals, punctuation
        0x3041...0x33FF,  // Kana, Bopomofo, CJK compatibility
        0x3400...0x4DBF, 0x4E00...0x9FFF,  // CJK ideographs
        0xA000...0xA4CF,  // Yi
        0xA960...0xA97F, 0xAC00...0xD7A3,  // Hangul
        0xF900...0xFAFF, 0xFE30...0xFE6F,  // CJK compatibility
        0xFF00...0xFF60, 0xFFE0...0xFFE6,  // full-width forms
        0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF,  // Tangut, Kana supplements
        0x1F000...0x1FAFF,  // tiles, cards, pictographs, emoji
        0x20000...0x3FFFD,  // CJK extensions
    ]
}
