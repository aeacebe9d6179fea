// SPDX-License-Identifier: Apache-2.0

/// The characters of a script, which are read one after the other.
struct MockScriptText {
    /// A piece of the script and its position.
    struct Piece {
        let text: String
        let start: Int
    }

    private let characters: [Character]
    /// The number of characters read so far.
    private(set) var position = 0

    /// Splits the text into Unicode scalars, because one `Character` may be a separator with a combining mark.
    init(_ source: String) {
        characters = source.flatMap { $0 == "\r\n" ? [$0] : $0.unicodeScalars.map(Character.init) }
    }

    /// Whether all characters have been read.
    var isAtEnd: Bool { position == characters.count }

    /// The next character, or `nil` at the end.
    var next: Character? { position < characters.count ? characters[position] : nil }

    /// Whether the next character separates two items.
    var isAtSeparator: Bool { next.map(Self.isSeparator) ?? false }

    /// Skips the next character if it is the given one.
    mutating func take(_ character: Character) -> Bool {
        guard next == character else { return false }
        position += 1
        return true
    }

    mutating func skipSpaces() {
        while let next, next.isWhitespace, !next.isNewline { position += 1 }
    }

    /// Skips spaces, separators and comments up to the next item.
    mutating func skipToItem() {
        while true {
            skipSpaces()
            if next == "#" {
                while let next, !next.isNewline { position += 1 }
            }
            guard isAtSeparator else { return }
            position += 1
        }
    }

    /// Reads letters, digits, hyphens and underscores, and returns them in lower case with hyphens.
    mutating func readWord() -> String {
        let word = read { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        return String(word.text.lowercased().map { $0 == "_" ? "-" : $0 })
    }

    /// Reads the text after a step's word, following a colon or a space.
    mutating func readArgument() -> Piece {
        skipSpaces()
        _ = take(":")
        skipSpaces()
        return read { !",;()*".contains($0) && !$0.isNewline }
    }

    /// Reads the text after a setting's `=`, which may contain anything except separators.
    mutating func readValue() -> Piece {
        skipSpaces()
        return read { !Self.isSeparator($0) }
    }

    /// Reads the characters that `accepts` accepts, without trailing spaces.
    private mutating func read(while accepts: (Character) -> Bool) -> Piece {
        let start = position
        while let next, accepts(next) { position += 1 }
        var end = position
        while end > start, characters[end - 1].isWhitespace { end -= 1 }
        return Piece(text: String(characters[start..<end]), start: start)
    }

    private static func isSeparator(_ character: Character) -> Bool {
        character == "," || character == ";" || character.isNewline
    }
}

extension MockScriptText {
    /// Returns an error about a piece.
    func mistake(_ expected: String, _ piece: Piece, suggestion: String? = nil) -> MockScriptError {
        mistake(expected, at: piece.start, found: piece.text, suggestion: suggestion)
    }

    /// Returns an error about a location, which defaults to the current one.
    func mistake(
        _ expected: String,
        at place: Int? = nil,
        found: String? = nil,
        suggestion: String? = nil
    ) -> MockScriptError {
        let place = min(place ?? position, characters.count)
        let before = characters[..<place]
        let lineStart = before.lastIndex(where: \.isNewline).map { $0 + 1 } ?? 0
        let rest = characters[place...].prefix { !Self.isSeparator($0) }.prefix(41)
        return MockScriptError(
            line: 1 + before.count(where: \.isNewline),
            column: 1 + place - lineStart,
            found: found ?? (rest.isEmpty ? "the end" : String(rest)),
            expected: expected,
            suggestion: suggestion
        )
    }
}
