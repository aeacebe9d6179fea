// SPDX-License-Identifier: Apache-2.0

/// A filter that makes untrusted text (a reason, a label, a reader's name) safe to display.
public enum DisplayText {
    /// Returns the text without characters that move the cursor, change colors, or hide or reorder other text.
    ///
    /// Control characters (C0, C1, the first bytes of escape sequences), line and paragraph separators, bidirectional
    /// controls and other invisible characters are removed; line breaks and tabs become spaces.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - limit: The maximum number of characters in the result; a longer text ends in an ellipsis.
    /// - Returns: The text that is safe to display; it may be empty.
    public static func clean(_ text: String, limit: Int = 200) -> String {
        var cleaned = String.UnicodeScalarView()
        // A character may consist of many scalars, so limit the number of scalars too.
        for scalar in text.unicodeScalars.prefix(limit * 8) {
            switch scalar {
            case "\n", "\t", "\r", "\u{2028}", "\u{2029}": cleaned.append(" ")
            case _ where isHidden(scalar): continue
            default: cleaned.append(scalar)
            }
        }
        let whole = String(cleaned)
        return whole.count <= limit ? whole : String(whole.prefix(max(0, limit - 1))) + "…"
    }

    /// Returns the text in quotation marks, to show that it is not from this program.
    ///
    /// Quotation marks in the text become apostrophes. Several of them in a row, or several spaces, become one; an
    /// accent after either is removed. The text can therefore not look like the end of the quotation or the next column
    /// of a table.
    public static func quoted(_ text: String, limit: Int = 200) -> String {
        var words = String.UnicodeScalarView()
        for scalar in clean(text, limit: limit).unicodeScalars {
            let isSpace = scalar.properties.isWhitespace
            let isMark = scalar.properties.isQuotationMark || likeQuotationMarks.contains(scalar)
            let plain: Unicode.Scalar = isSpace ? " " : isMark ? "'" : scalar
            let isAccent = scalar.properties.generalCategory.isMark
            let last = words.last ?? " "
            if last == " ", isSpace || isAccent { continue }
            if last == "'", isMark || isAccent { continue }
            words.append(plain)
        }
        if words.last == " " { words.removeLast() }
        return "“" + String(words) + "”"
    }

    /// Returns an untrusted name as a single word; a process, for example, chooses its name itself.
    package static func word(_ name: String, limit: Int = 40) -> String {
        String(
            clean(name, limit: limit).map { $0.isLetter || $0.isNumber || "._+@:/-…".contains($0) ? $0 : "_" }
        )
    }

    /// Letters and symbols that look like quotation marks but are not classified as such by Unicode.
    private static let likeQuotationMarks: Set<Unicode.Scalar> = [
        "\u{2BA}", "\u{2DD}", "\u{2EE}", "\u{5F4}", "\u{2032}", "\u{2033}", "\u{2034}", "\u{2035}",
        "\u{2036}", "\u{2037}", "\u{275B}",
        "\u{275C}", "\u{275D}", "\u{275E}", "\u{2BB}", "\u{2BC}", "\u{2BD}", "\u{3003}", "\u{1F676}",
        "\u{1F677}", "\u{1F678}", "`", "\u{B4}",
    ]

    /// Returns whether a character is invisible, controls a terminal, or reorders other characters.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
            true
        // Unicode classifies the fillers as letters, the joiners and selectors as marks, and the blank Braille pattern
        // as a symbol.
        default: scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}"
        }
    }

    /// Returns whether a text would be invisible when displayed.
    package static func isBlank(_ text: String) -> Bool {
        clean(text).unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }
}

extension Unicode.GeneralCategory {
    /// Whether the character combines with the one before it.
    fileprivate var isMark: Bool { [.nonspacingMark, .enclosingMark, .spacingMark].contains(self) }
}

/// Returns a path quoted for a shell, for commands that users copy.
package func shellQuoted(_ path: String) -> String {
    let plain = path.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "@"):
            true
        default: false
        }
    }
    guard !plain else { return path }
    return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}
