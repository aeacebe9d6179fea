// SPDX-License-Identifier: Apache-2.0

/// A filter that makes text from outside (a reason, a label, a reader's name) safe to show.
public enum DisplayText {
    /// Returns the text without characters that move the cursor, change colours, or hide or reorder other text.
    ///
    /// Control characters (C0, C1, escape sequences' first bytes), line and paragraph separators,
    /// bidirectional controls and other invisible characters are dropped; line breaks and tabs become spaces.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - limit: The largest number of characters in the result; a longer text ends in an ellipsis.
    /// - Returns: The text that is safe to show; it may be empty.
    public static func clean(_ text: String, limit: Int = 200) -> String {
        var cleaned = String.UnicodeScalarView()
        // A character may consist of many scalars, so the number of scalars is limited too.
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

    /// Returns the text in quotation marks, as words that are not this program's own.
    ///
    /// Quotation marks in it become apostrophes and several spaces one, so that it can look neither like the end of the
    /// quotation nor like the next column of a table.
    package static func quoted(_ text: String, limit: Int = 200) -> String {
        let marks: Set<Character> = ["“", "”", "„", "‟", "\"", "«", "»", "＂", "〝", "〞", "〟", "″", "❝", "❞"]
        let words = clean(text, limit: limit).split {
            $0.unicodeScalars.allSatisfy(\.properties.isWhitespace)
        }
        return "“" + String(words.joined(separator: " ").map { marks.contains($0) ? "'" : $0 }) + "”"
    }

    /// Returns whether a character is invisible, acts on a terminal, or reorders others.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
            true
        // The fillers count as letters, the joiners and selectors as marks, and the blank Braille pattern as a symbol.
        default: scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}"
        }
    }

    /// Returns whether a text would be invisible.
    package static func isBlank(_ text: String) -> Bool {
        clean(text).unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }
}

/// Returns a path quoted for a shell, for commands that people copy.
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
