// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint

extension MockScriptParser {
    static let stepWords = [
        "touch", "match", "no-match", "retry", "delay", "unplug", "plug", "busy", "permission-denied",
        "storage-full", "duplicate", "too-hot", "malfunction", "lie", "hang", "repeat",
    ]

    /// The steps that are a word alone.
    private static let plainSteps: [String: MockStep] = [
        "match": .touch(.expected), "no-match": .touch(.unknown), "unplug": .unplug, "plug": .plug,
        "busy": .fail(.inUse), "permission-denied": .fail(.permissionDenied),
        "storage-full": .fail(.storageFull), "duplicate": .fail(.duplicate), "too-hot": .fail(.tooHot),
        "malfunction": .fail(.malfunction), "hang": .hang,
    ]

    /// Reads the rest of the step whose word was read.
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
