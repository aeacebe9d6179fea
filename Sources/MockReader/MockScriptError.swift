// SPDX-License-Identifier: Apache-2.0

/// Why a text is not a script for a ``MockReader``.
public struct MockScriptError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line of the mistake, from 1.
    public let line: Int
    /// The character in that line, from 1.
    public let column: Int
    /// What stands there, cut after 40 characters; it is somebody's input.
    public let found: String
    /// What would be right there.
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

    /// What is wrong and where, in one sentence.
    public var message: String {
        let place = found.isEmpty ? "" : ", found \"\(found)\""
        return "The mock script is wrong at line \(line), character \(column): expected \(expected)\(place)."
    }

    /// What to do about it.
    public var recovery: String {
        suggestion.map { "Did you mean \"\($0)\"?" } ?? MockScript.summary
    }

    /// Both sentences.
    public var description: String { message + " " + recovery }
}
