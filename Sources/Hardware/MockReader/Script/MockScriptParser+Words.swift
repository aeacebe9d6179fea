// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint

extension MockScriptParser {
    /// The case whose raw value is meant, whether written `tooShort` or `too-short`.
    func choice<Value: RawRepresentable<String>>(
        _ argument: MockScriptText.Piece,
        of values: [Value]
    ) throws(MockScriptError) -> Value {
        let name = try pick(argument, of: values.map(\.rawValue))
        guard let value = Value(rawValue: name) else { throw text.mistake("another word", argument) }
        return value
    }

    /// The word that is meant, whatever its case and hyphens.
    func pick(_ argument: MockScriptText.Piece, of words: [String]) throws(MockScriptError) -> String {
        func plain(_ text: String) -> String { text.lowercased().filter { $0 != "-" && $0 != "_" } }
        let wanted = plain(argument.text)
        guard let word = words.first(where: { plain($0) == wanted }) else {
            let shown = words.map(\.kebabCased)
            throw text.mistake(
                shown.joined(separator: ", "),
                argument,
                suggestion: nearest(argument.text, in: shown)
            )
        }
        return word
    }

    /// The word that was probably meant: the one with the smallest edit distance, if that is small for its length.
    func nearest(_ typed: String, in words: [String]) -> String? {
        let typed = Array(typed.lowercased().prefix(40))
        let best = words.map { (word: $0, distance: editDistance(typed, Array($0))) }.min {
            $0.distance < $1.distance
        }
        guard let best, best.distance <= max(1, best.word.count * 2 / 5) else { return nil }
        return best.word
    }
}
