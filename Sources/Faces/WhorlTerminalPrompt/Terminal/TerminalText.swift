// SPDX-License-Identifier: Apache-2.0

internal import WhorlSupport

/// Functions that fit untrusted text into the lines of a terminal.
package enum TerminalText {
    /// Returns the text, at most `columns` columns wide, without characters that control a terminal.
    ///
    /// Whorl's own messages are translated into the user's language.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - columns: The maximum number of columns. Wider text is cut off and ends with an ellipsis.
    ///   - ascii: Whether to use only ASCII because the terminal does not support UTF-8. Every non-ASCII character is
    ///     replaced by a question mark, because one of its bytes could be a command (0x9B is CSI).
    /// - Returns: One line, without a line feed.
    package static func line(_ text: String, columns: Int, ascii: Bool = false) -> String {
        let clean = DisplayText.clean(translated(text), limit: max(columns, 0) + 1)
        return cut(ascii ? inASCII(clean) : clean, to: columns, ellipsis: ascii ? "." : "…")
    }

    /// The maximum number of lines of a text.
    ///
    /// Together with the rest of a prompt, this number of lines fits the smallest common terminal.
    private static let mostLines = 8

    /// Returns the text in lines of at most `columns` columns, without characters that control a terminal.
    ///
    /// If the text needs more than 8 lines, its beginning and its end are shown, separated by an ellipsis.
    ///
    /// - Parameters: The same as for ``line(_:columns:ascii:)``.
    /// - Returns: At least one line, without line feeds.
    package static func lines(_ text: String, columns: Int, ascii: Bool = false) -> [String] {
        let clean = DisplayText.clean(translated(text), limit: 4000)
        let lines = wrapped(ascii ? inASCII(clean) : clean, to: max(columns, 1))
        guard lines.count > mostLines else { return lines }
        return lines.prefix(mostLines - 3) + [ascii ? "..." : "…"] + lines.suffix(2)
    }

    /// Returns the words of a text, wrapped into lines.
    ///
    /// A word that is wider than a line is split.
    private static func wrapped(_ text: String, to columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, width(of: line) + 1 + width(of: String(word)) > columns {
                lines.append(line)
                line = ""
            }
            if !line.isEmpty { line += " " }
            for character in word {
                if !line.isEmpty, width(of: line) + width(of: character) > columns {
                    lines.append(line)
                    line = ""
                }
                line.append(character)
            }
        }
        return line.isEmpty && !lines.isEmpty ? lines : lines + [line]
    }

    /// Returns the text with each non-ASCII character replaced by a question mark.
    package static func inASCII(_ text: String) -> String {
        String(text.map { $0.isASCII ? $0 : "?" })
    }

    /// Returns the text, at most `columns` columns wide, with an ellipsis if something was cut off.
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

    /// Returns the text with trailing spaces up to `columns` columns.
    package static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - width(of: text)))
    }

    /// Returns the width of the text in columns.
    package static func width(of text: String) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    /// Returns the width of one character: 2 columns for East Asian wide characters and emoji, otherwise 1.
    ///
    /// Terminals disagree about the width of characters that consist of several scalars. The sum of the scalars' widths
    /// is the largest width that any of them uses, so lines that are cut accordingly never wrap.
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

    /// The blocks of wide characters (East_Asian_Width W and F in Unicode 15, extended to whole blocks).
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
