// SPDX-License-Identifier: Apache-2.0

/// A filter that makes a text of another program safe to show.
enum PlainText {
    /// Returns the text without characters that are invisible or reorder others, in one line of at most so many.
    static func clean(_ text: String, limit: Int = 200) -> String {
        var cleaned = String.UnicodeScalarView()
        // A character may consist of many scalars, so the number of scalars is limited too.
        for scalar in text.unicodeScalars.prefix(limit * 8) {
            switch scalar.properties.generalCategory {
            case .control where scalar == "\n" || scalar == "\t" || scalar == "\r": cleaned.append(" ")
            case .lineSeparator, .paragraphSeparator: cleaned.append(" ")
            case .control, .format, .surrogate, .privateUse, .unassigned: continue
            // Fillers, joiners and selectors are letters and marks, and the blank Braille pattern is a symbol: all are invisible.
            case _ where scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}": continue
            default: cleaned.append(scalar)
            }
        }
        let whole = String(cleaned)
        return whole.count <= limit ? whole : String(whole.prefix(limit - 1)) + "…"
    }
}
