// SPDX-License-Identifier: Apache-2.0

/// The person's own words for a finger.
///
/// They are kept and shown, never interpreted.
enum FingerLabel {
    /// The most characters that are kept.
    static let limit = 100

    /// The text without control and invisible format characters, in one line; `nil` when nothing is left.
    static func clean(_ text: String?) -> String? {
        guard let text else { return nil }
        var kept = String.UnicodeScalarView()
        // One character can consist of any number of scalars: their number is limited too.
        for scalar in text.unicodeScalars.prefix(limit * 8) {
            switch scalar.properties.generalCategory {
            case .lineSeparator, .paragraphSeparator: kept.append(" ")
            case .control where scalar.properties.isWhitespace: kept.append(" ")
            case .control, .format, .surrogate, .privateUse, .unassigned: continue
            default: kept.append(scalar)
            }
        }
        let words = String(kept).split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        return words.isEmpty ? nil : String(words.prefix(limit))
    }
}
