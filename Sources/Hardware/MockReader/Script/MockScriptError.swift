// SPDX-License-Identifier: Apache-2.0

/// An error in the text of a script for a ``MockReader``.
public struct MockScriptError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line of the mistake, from 1.
    public let line: Int
    /// The character in that line, from 1.
    public let column: Int
    /// The text at that place, cut after 40 characters; it is outside input.
    public let found: String
    /// The text that would be right there.
    public let expected: String
    /// The word that was probably meant, where one is near.
    public let suggestion: String?

    /// Describes a mistake.
    init(line: Int = 1, column: Int = 1, found: String = "", expected: String, suggestion: String? = nil) {
        self.line = line
        self.column = column
        self.found = found.count > 40 ? found.prefix(39) + "…" : found
        self.expected = expected
        self.suggestion = suggestion
    }

    /// One sentence that says what is wrong, and where.
    public var message: String {
        let place = found.isEmpty ? "" : ", found \"\(found)\""
        return "The mock script is wrong at line \(line), character \(column): expected \(expected)\(place)."
    }

    /// One sentence that says how to mend it.
    public var recovery: String {
        suggestion.map { "Did you mean \"\($0)\"?" } ?? MockScript.summary
    }

    /// Both sentences.
    public var description: String { message + " " + recovery }
}
