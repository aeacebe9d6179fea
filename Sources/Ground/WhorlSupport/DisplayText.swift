// SPDX-License-Identifier: Apache-2.0

/// Text from outside (a reason, a label, a reader's name) made safe to show.
public enum DisplayText {
    /// The text without anything that moves the cursor, changes colours, or hides or reorders what follows.
    ///
    /// Control characters (C0, C1, escape sequences' first bytes), line and paragraph separators,
    /// bidirectional controls and other invisible format characters are dropped; line breaks and tabs become
    /// spaces.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - limit: The most characters that come back; a longer text ends in an ellipsis.
    /// - Returns: The text that may be shown; it may be empty.
    public static func clean(_ text: String, limit: Int = 200) -> String {
        var cleaned = String.UnicodeScalarView()
        // A character may be made of many scalars: the scalars are bounded too.
        for scalar in text.unicodeScalars.prefix(limit * 8) {
            switch scalar.properties.generalCategory {
            case .control where scalar == "\n" || scalar == "\t" || scalar == "\r": cleaned.append(" ")
            case .lineSeparator, .paragraphSeparator: cleaned.append(" ")
            case .control, .format, .surrogate, .privateUse, .unassigned: continue
            default: cleaned.append(scalar)
            }
        }
        let whole = String(cleaned)
        return whole.count <= limit ? whole : String(whole.prefix(max(0, limit - 1))) + "…"
    }
}
