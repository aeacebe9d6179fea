// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint

/// Parses ``MockScript`` text, in three layers: the structure (separators, brackets, repetitions), the steps and
/// settings, and the words in them.
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

    /// Parses steps (and, outside brackets, settings) up to the end of the text or a closing bracket.
    private mutating func parseItems(depth: Int) throws(MockScriptError) -> [MockStep] {
        guard depth <= Self.deepestNesting else { throw text.mistake("fewer nested brackets") }
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

    /// Parses the number after a `*`, or returns 1 if there is none.
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

// MARK: - Settings

extension MockScriptParser {
    static let settingWords = [
        "stages", "storage", "storage-file", "features", "scan", "name", "id", "connected", "then",
    ]

    /// Parses the value of a setting after its word and `=`.
    mutating func parseSetting(_ word: String, from start: Int, isInside: Bool) throws(MockScriptError) {
        let value = text.readValue()
        guard Self.settingWords.contains(word) else {
            throw text.mistake(
                "a setting",
                at: start,
                found: word,
                suggestion: nearest(word, in: Self.settingWords)
            )
        }
        guard !hasSteps, !isInside else {
            throw text.mistake("settings before the first step", at: start, found: word)
        }
        guard !value.text.isEmpty else { throw text.mistake("a value for \(word)", value) }
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

    /// Rejects the identity of a real reader, because the mock's enrollments and matches would count for that reader.
    private func identity(_ value: MockScriptText.Piece) throws(MockScriptError) -> ReaderID {
        guard value.text.hasPrefix("mock") else { throw text.mistake("an id that begins with mock", value) }
        return ReaderID(rawValue: value.text)
    }

    private func stages(_ value: MockScriptText.Piece) throws(MockScriptError) -> Int {
        guard let count = Int(value.text), (1...50).contains(count) else {
            throw text.mistake("a number of stages from 1 to 50", value)
        }
        return count
    }

    private func features(_ value: MockScriptText.Piece) throws(MockScriptError) -> ReaderFeatures {
        if value.text.lowercased() == "none" { return [] }
        let known = (0..<10).map { ReaderFeatures(rawValue: 1 << $0) }
        var features: ReaderFeatures = []
        for name in value.text.split(separator: "+", omittingEmptySubsequences: false) {
            let part = MockScriptText.Piece(text: String(name), start: value.start)
            let wanted = try pick(part, of: known.flatMap(\.names))
            features.formUnion(known.first { $0.names == [wanted] } ?? [])
        }
        return features
    }
}

// MARK: - Steps

extension MockScriptParser {
    static let stepWords = [
        "touch", "match", "no-match", "retry", "delay", "unplug", "plug", "busy", "permission-denied",
        "storage-full", "duplicate", "too-hot", "malfunction", "lie", "hang", "repeat",
    ]

    /// The steps that consist of a single word.
    private static let plainSteps: [String: MockStep] = [
        "match": .touch(.expected), "no-match": .touch(.unknown), "unplug": .unplug, "plug": .plug,
        "busy": .fail(.inUse), "permission-denied": .fail(.permissionDenied),
        "storage-full": .fail(.storageFull), "duplicate": .fail(.duplicate), "too-hot": .fail(.tooHot),
        "malfunction": .fail(.malfunction), "hang": .hang,
    ]

    /// Parses the rest of a step after its word.
    mutating func parseStep(_ word: String, from start: Int) throws(MockScriptError) -> MockStep {
        let argument = text.readArgument()
        if let step = Self.plainSteps[word] {
            guard argument.text.isEmpty else { throw text.mistake("a comma after \"\(word)\"", argument) }
            return step
        }
        switch word {
        case "touch": return .touch(.finger(try finger(argument)))
        case "retry": return .retry(try choice(argument, of: ScanRetry.allCases))
        case "delay": return .delay(try duration(argument))
        case "lie": return .lie(try choice(argument, of: MockLie.allCases))
        default:
            throw text.mistake(
                "a step or a setting",
                at: start,
                found: word,
                suggestion: nearest(word, in: Self.stepWords + Self.settingWords)
            )
        }
    }

    private func finger(_ argument: MockScriptText.Piece) throws(MockScriptError) -> Finger {
        guard let finger = Finger(name: argument.text) else {
            let near = Finger.nearest(to: argument.text)?.rawValue
            throw text.mistake("a finger's name such as right-index-finger", argument, suggestion: near)
        }
        return finger
    }

    private func duration(_ argument: MockScriptText.Piece) throws(MockScriptError) -> Duration {
        let digits = argument.text.prefix { $0.isASCII && $0.isNumber }
        let unit = argument.text.dropFirst(digits.count)
        guard let number = Int(digits), number <= 3_600_000 else {
            throw text.mistake("a time such as 250ms or 2s", argument)
        }
        switch unit {
        case "ms": return .milliseconds(number)
        case "s" where number <= 3600: return .seconds(number)
        default: throw text.mistake("a time such as 250ms or 2s, at most an hour", argument)
        }
    }
}

// MARK: - Words

extension MockScriptParser {
    /// Returns the case with the given raw value, which may be written as `tooShort` or `too-short`.
    func choice<Value: RawRepresentable<String>>(
        _ argument: MockScriptText.Piece,
        of values: [Value]
    ) throws(MockScriptError) -> Value {
        let name = try pick(argument, of: values.map(\.rawValue))
        guard let value = Value(rawValue: name) else { throw text.mistake("another word", argument) }
        return value
    }

    /// Returns the word that matches the argument, ignoring case and hyphens.
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

    /// Returns the word with the smallest edit distance, which was probably meant, if the distance is small for its
    /// length.
    func nearest(_ typed: String, in words: [String]) -> String? {
        let typed = Array(typed.lowercased().prefix(40))
        let best = words.map { (word: $0, distance: editDistance(typed, Array($0))) }.min {
            $0.distance < $1.distance
        }
        guard let best, best.distance <= max(1, best.word.count * 2 / 5) else { return nil }
        return best.word
    }
}
