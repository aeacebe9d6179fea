// SPDX-License-Identifier: Apache-2.0

/// Reads the language of ``MockScript``.
///
/// Here is what holds steps and settings together: separators, brackets, repetitions. The steps, the settings and
/// the words in them have files of their own.
struct MockScriptParser {
    private static let deepestNesting = 8

    var text: MockScriptText
    var settings = MockSettings()
    var hasSettings = false
    private(set) var hasSteps = false

    init(_ source: String) throws(MockScriptError) {
        guard source.utf8.count <= MockScript.maximumBytes else {
            throw MockScriptError(expected: "a script of at most \(MockScript.maximumBytes) bytes")
        }
        text = MockScriptText(source)
    }

    mutating func parse() throws(MockScriptError) -> MockScript {
        let steps = try parseItems(depth: 0)
        guard text.isAtEnd else { throw text.mistake("a step") }
        guard hasSettings || hasSteps else { throw MockScriptError(expected: "a script") }
        return MockScript(settings: settings, steps: steps)
    }

    /// Steps (and, outside brackets, settings) up to the end of the text or a closing bracket.
    private mutating func parseItems(depth: Int) throws(MockScriptError) -> [MockStep] {
        guard depth <= Self.deepestNesting else { throw text.mistake("fewer brackets inside each other") }
        var steps: [MockStep] = []
        while true {
            text.skipToItem()
            guard let next = text.next, next != ")" else { return steps }
            try parseItem(into: &steps, depth: depth)
            text.skipSpaces()
            if let after = text.next, after != ")", !text.isAtSeparator { throw text.mistake("a comma") }
        }
    }

    private mutating func parseItem(into steps: inout [MockStep], depth: Int) throws(MockScriptError) {
        let start = text.position
        if text.next == "(" {
            try append(try parseGroup(depth: depth), times: try parseTimes(), to: &steps, from: start)
            return
        }
        let word = text.readWord()
        guard !word.isEmpty else { throw text.mistake("a step") }
        text.skipSpaces()
        if text.take("=") {
            try parseSetting(word, from: start, isInside: depth > 0)
        } else if word == "repeat" {
            let count = try parseCount(text.readArgument())
            try append(try parseGroup(depth: depth), times: count, to: &steps, from: start)
        } else {
            let step = try parseStep(word, from: start)
            try append([step], times: try parseTimes(), to: &steps, from: start)
        }
    }

    private mutating func parseGroup(depth: Int) throws(MockScriptError) -> [MockStep] {
        guard text.take("(") else { throw text.mistake("an opening bracket") }
        let steps = try parseItems(depth: depth + 1)
        guard text.take(")") else { throw text.mistake("a closing bracket") }
        return steps
    }

    /// The number behind a `*`; 1 without one.
    private mutating func parseTimes() throws(MockScriptError) -> Int {
        text.skipSpaces()
        return text.take("*") ? try parseCount(text.readArgument()) : 1
    }

    private func parseCount(_ argument: MockScriptText.Piece) throws(MockScriptError) -> Int {
        guard let count = Int(argument.text), (1...MockScript.maximumSteps).contains(count) else {
            throw text.mistake("a number from 1 to \(MockScript.maximumSteps)", argument)
        }
        return count
    }

    private mutating func append(
        _ group: [MockStep],
        times: Int,
        to steps: inout [MockStep],
        from start: Int
    ) throws(MockScriptError) {
        hasSteps = true
        let (added, overflow) = group.count.multipliedReportingOverflow(by: times)
        guard !overflow, steps.count + added <= MockScript.maximumSteps else {
            throw text.mistake("at most \(MockScript.maximumSteps) steps", at: start)
        }
        for _ in 0..<times { steps += group }
    }
}
