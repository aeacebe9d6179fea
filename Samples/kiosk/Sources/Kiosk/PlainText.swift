// SPDX-License-Identifier: Apache-2.0

/// A filter that makes text from other programs safe to show.
enum PlainText {
    /// Returns the text on one line of limited length, without characters that are invisible or reorder others.
    static func clean(_ text: String, limit: Int = 200) -> String {
        var cleaned = String.UnicodeScalarView()
        // A character can consist of many scalars, so the number of scalars is also limited.
        for scalar in text.unicodeScalars.prefix(limit * 8) {
            switch scalar.properties.generalCategory {
            case .control where scalar == "\n" || scalar == "\t" || scalar == "\r": cleaned.append(" ")
            case .lineSeparator, .paragraphSeparator: cleaned.append(" ")
            case .control, .format, .surrogate, .privateUse, .unassigned: continue
            // Fillers, joiners and selectors are letters and marks, and the blank Braille pattern is a symbol. All are
            // invisible.
            case _ where scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}": continue
            default: cleaned.append(scalar)
            }
        }
        let whole = String(cleaned)
        return whole.count <= limit ? whole : String(whole.prefix(limit - 1)) + "…"
    }
}
