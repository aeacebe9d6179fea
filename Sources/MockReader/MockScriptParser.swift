// SPDX-License-Identifier: Apache-2.0

internal import Fingerprint

/// Reads the language of ``MockScript``, one character at a time, and never twice.
struct MockScriptParser {
    static let stepWords = [
        "touch", "match", "no-match", "retry", "delay", "unplug", "plug", "busy", "permission-denied",
        "storage-full", "duplicate", "too-hot", "malfunction", "lie", "hang", "repeat",
    ]
    static let settingWords = [
        "stages", "storage", "storage-file", "features", "scan", "name", "id", "connected", "then",
    ]

    private static let deepestNesting = 8

    private let text: [Character]
    private var position = 0
    private var settings = MockSettings()
    private var hasSettings = false
    private var hasSteps = false

    init(_ source: String) throws(MockScriptError) {
        guard source.utf8.count <= MockScript.maximumBytes else {
            throw MockScriptError(expected: "a script of at most \(MockScript.maximumBytes) bytes")
        }
        text = Array(source)
    }

    mutating func parse() throws(MockScriptError) -> MockScript {
        let steps = try parseItems(depth: 0)
        guard position == text.count else { throw mistake("a step") }
        guard hasSettings || hasSteps else { throw MockScriptError(expected: "a script") }
        return MockScript(settings: settings, steps: steps)
    }

    // MARK: - Items

    /// Steps (and, outside brackets, settings) up to the end of the text or a closing bracket.
    private mutating func parseItems(depth: Int) throws(MockScriptError) -> [MockStep] {
        guard depth <= Self.deepestNesting else { throw mistake("fewer brackets inside each other") }
        var steps: [MockStep] = []
        while true {
            skipSpaceAndComments()
            guard let next = peek, next != ")" else { return steps }
            if isSeparator(next) {
                position += 1
                continue
            }
            try parseItem(into: &steps, depth: depth)
            skipSpaces()
            if let after = peek, after != ")", !isSeparator(after) { throw mistake("a comma") }
        }
    }

    private mutating func parseItem(into steps: inout [MockStep], depth: Int) throws(MockScriptError) {
        let start = position
        if peek == "(" {
            try append(try parseGroup(depth: depth), times: try parseTimes(), to: &steps, from: start)
            return
        }
        let word = readWord()
        guard !word.isEmpty else { throw mistake("a step") }
        skipSpaces()
        if peek == "=" {
            position += 1
            try parseSetting(word, from: start, depth: depth)
        } else if word == "repeat" {
            let count = try parseCount(readArgument())
            try append(try parseGroup(depth: depth), times: count, to: &steps, from: start)
        } else {
            let step = try parseStep(word, from: start)
            try append([step], times: try parseTimes(), to: &steps, from: start)
        }
    }

    private mutating func parseGroup(depth: Int) throws(MockScriptError) -> [MockStep] {
        guard peek == "(" else { throw mistake("an opening bracket") }
        position += 1
        let steps = try parseItems(depth: depth + 1)
        guard peek == ")" else { throw mistake("a closing bracket") }
        position += 1
        return steps
    }

    /// The number behind a `*`; 1 where there is none.
    private mutating func parseTimes() throws(MockScriptError) -> Int {
        skipSpaces()
        guard peek == "*" else { return 1 }
        position += 1
        return try parseCount(readArgument())
    }

    private func parseCount(_ argument: Argument) throws(MockScriptError) -> Int {
        guard let count = Int(argument.text), (1...MockScript.maximumSteps).contains(count) else {
            throw mistake("a number from 1 to \(MockScript.maximumSteps)", argument)
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
            throw mistake("at most \(MockScript.maximumSteps) steps", at: start)
        }
        for _ in 0..<times { steps += group }
    }

    // MARK: - Steps

    private mutating func parseStep(_ word: String, from start: Int) throws(MockScriptError) -> MockStep {
        let argument = readArgument()
        if let step = Self.plainSteps[word] {
            guard argument.text.isEmpty else { throw mistake("a comma after \"\(word)\"", argument) }
            return step
        }
        switch word {
        case "touch": return .touch(.finger(try finger(argument)))
        case "retry": return .retry(try choice(argument, of: ScanRetry.allCases))
        case "delay": return .delay(try duration(argument))
        case "lie": return .lie(try choice(argument, of: MockLie.allCases))
        default:
            throw mistake(
                "a step or a setting",
                at: start,
                found: word,
                suggestion: nearest(word, in: Self.stepWords + Self.settingWords)
            )
        }
    }

    private static let plainSteps: [String: MockStep] = [
        "match": .touch(.expected), "no-match": .touch(.unknown), "unplug": .unplug, "plug": .plug,
        "busy": .fail(.inUse), "permission-denied": .fail(.permissionDenied),
        "storage-full": .fail(.storageFull), "duplicate": .fail(.duplicate), "too-hot": .fail(.tooHot),
        "malfunction": .fail(.malfunction), "hang": .hang,
    ]

    private func finger(_ argument: Argument) throws(MockScriptError) -> Finger {
        guard let finger = Finger(name: argument.text) else {
            let near = Finger.nearest(to: argument.text)?.rawValue
            throw mistake("a finger's name such as right-index-finger", argument, suggestion: near)
        }
        return finger
    }

    private func duration(_ argument: Argument) throws(MockScriptError) -> Duration {
        let digits = argument.text.prefix { $0.isASCII && $0.isNumber }
        let unit = argument.text.dropFirst(digits.count)
        guard let number = Int(digits), number <= 3_600_000 else {
            throw mistake("a time such as 250ms or 2s", argument)
        }
        switch unit {
        case "ms": return .milliseconds(number)
        case "s" where number <= 3600: return .seconds(number)
        default: throw mistake("a time such as 250ms or 2s, at most an hour", argument)
        }
    }

    // MARK: - Settings

    private mutating func parseSetting(_ word: String, from start: Int, depth: Int) throws(MockScriptError) {
        let value = readValue()
        guard Self.settingWords.contains(word) else {
            throw mistake(
                "a setting",
                at: start,
                found: word,
                suggestion: nearest(word, in: Self.settingWords)
            )
        }
        guard !hasSteps, depth == 0 else {
            throw mistake("settings before the first step", at: start, found: word)
        }
        guard !value.text.isEmpty else { throw mistake("a value for \(word)", value) }
        hasSettings = true
        switch word {
        case "stages": settings.stages = try stages(value)
        case "storage": settings.storage = try choice(value, of: [ReaderInfo.Storage.host, .reader])
        case "storage-file": settings.storageFile = value.text
        case "features": settings.features = try features(value)
        case "scan": settings.scanType = try choice(value, of: [ReaderInfo.ScanType.press, .swipe])
        case "name": settings.name = value.text
        case "id": settings.id = try identity(value)
        case "connected": settings.isConnected = try pick(value, of: ["yes", "no"]) == "yes"
        default: settings.afterScript = try choice(value, of: MockSettings.AfterScript.allCases)
        }
    }

    /// A mock may not take the name of a reader that is none: what it enrolls and matches would count for that one.
    private func identity(_ value: Argument) throws(MockScriptError) -> ReaderID {
        guard value.text.hasPrefix("mock") else { throw mistake("an id that begins with mock", value) }
        return ReaderID(rawValue: value.text)
    }

    private func stages(_ value: Argument) throws(MockScriptError) -> Int {
        guard let count = Int(value.text), (1...50).contains(count) else {
            throw mistake("a number of stages from 1 to 50", value)
        }
        return count
    }

    private func features(_ value: Argument) throws(MockScriptError) -> ReaderFeatures {
        if value.text.lowercased() == "none" { return [] }
        let known = (0..<10).map { ReaderFeatures(rawValue: 1 << $0) }
        var features: ReaderFeatures = []
        for name in value.text.split(separator: "+", omittingEmptySubsequences: false) {
            let part = Argument(text: String(name), start: value.start)
            let wanted = try pick(part, of: known.flatMap(\.names))
            features.formUnion(known.first { $0.names == [wanted] } ?? [])
        }
        return features
    }

    /// The case whose raw value is meant, whether written `tooShort` or `too-short`.
    private func choice<Value: RawRepresentable<String>>(
        _ argument: Argument,
        of values: [Value]
    ) throws(MockScriptError) -> Value {
        let name = try pick(argument, of: values.map(\.rawValue))
        guard let value = Value(rawValue: name) else { throw mistake("another word", argument) }
        return value
    }

    private func pick(_ argument: Argument, of words: [String]) throws(MockScriptError) -> String {
        func plain(_ text: String) -> String { text.lowercased().filter { $0 != "-" && $0 != "_" } }
        let wanted = plain(argument.text)
        guard let word = words.first(where: { plain($0) == wanted }) else {
            let shown = words.map(\.kebabCased)
            throw mistake(
                shown.joined(separator: ", "),
                argument,
                suggestion: nearest(argument.text, in: shown)
            )
        }
        return word
    }
}

// MARK: - Characters

extension MockScriptParser {
    /// A piece of the script, and where it begins.
    struct Argument {
        let text: String
        let start: Int
    }

    private var peek: Character? { position < text.count ? text[position] : nil }

    private func isSeparator(_ character: Character) -> Bool {
        character == "," || character == ";" || character.isNewline
    }

    private mutating func skipSpaces() {
        while let next = peek, next.isWhitespace, !next.isNewline { position += 1 }
    }

    private mutating func skipSpaceAndComments() {
        skipSpaces()
        guard peek == "#" else { return }
        while let next = peek, !next.isNewline { position += 1 }
    }

    /// Letters, digits, hyphens and underscores, as lower case with hyphens.
    private mutating func readWord() -> String {
        let word = read { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        return String(word.text.lowercased().map { $0 == "_" ? "-" : $0 })
    }

    /// What stands behind a step's word, behind a colon or a space.
    private mutating func readArgument() -> Argument {
        skipSpaces()
        if peek == ":" { position += 1 }
        skipSpaces()
        return read { !",;()*".contains($0) && !$0.isNewline }
    }

    /// What stands behind a setting's `=`; it may hold anything but separators.
    private mutating func readValue() -> Argument {
        skipSpaces()
        return read { !",;".contains($0) && !$0.isNewline }
    }

    /// Takes what `accepts` accepts, without the spaces at its end.
    private mutating func read(while accepts: (Character) -> Bool) -> Argument {
        let start = position
        while let next = peek, accepts(next) { position += 1 }
        var end = position
        while end > start, text[end - 1].isWhitespace { end -= 1 }
        return Argument(text: String(text[start..<end]), start: start)
    }

    private func mistake(_ expected: String, _ argument: Argument, suggestion: String? = nil)
        -> MockScriptError
    {
        mistake(expected, at: argument.start, found: argument.text, suggestion: suggestion)
    }

    /// An error that names the place, by default where the parser stands.
    private func mistake(
        _ expected: String,
        at place: Int? = nil,
        found: String? = nil,
        suggestion: String? = nil
    ) -> MockScriptError {
        let place = min(place ?? position, text.count)
        let before = text[..<place]
        let lineStart = before.lastIndex(where: \.isNewline).map { $0 + 1 } ?? 0
        let rest = text[place...].prefix { !isSeparator($0) }.prefix(41)
        return MockScriptError(
            line: 1 + before.count(where: \.isNewline),
            column: 1 + place - lineStart,
            found: found ?? (rest.isEmpty ? "the end" : String(rest)),
            expected: expected,
            suggestion: suggestion
        )
    }
}

/// The word that was probably meant: the one with the smallest edit distance, if that is small for its length.
private func nearest(_ typed: String, in words: [String]) -> String? {
    let typed = Array(typed.lowercased().prefix(40))
    let best = words.map { (word: $0, distance: editDistance(typed, Array($0))) }.min {
        $0.distance < $1.distance
    }
    guard let best, best.distance <= max(1, best.word.count * 2 / 5) else { return nil }
    return best.word
}

/// Levenshtein distance with one row of memory.
private func editDistance(_ a: [Character], _ b: [Character]) -> Int {
    var row = Array(0...b.count)
    for (i, x) in a.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, y) in b.enumerated() {
            let substitution = diagonal + (x == y ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(substitution, row[j] + 1, row[j + 1] + 1)
        }
    }
    return row[b.count]
}
