// SPDX-License-Identifier: Apache-2.0

internal import WhorlFingerprint

extension MockScriptParser {
    static let settingWords = [
        "stages", "storage", "storage-file", "features", "scan", "name", "id", "connected", "then",
    ]

    /// Reads the value of the setting whose word and `=` were read.
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

    /// A mock may not take the name of a reader that is none: what it enrolls and matches would count for that one.
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
