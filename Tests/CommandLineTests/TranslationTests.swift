// SPDX-License-Identifier: Apache-2.0

import ChildPipe
import Foundation
import Testing
import WhorlFingerprint
import WhorlService

/// The sentences that people see, in their languages (`po/`).
@Suite struct `Translations of what people see` {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let languages = ["ar", "de", "es", "fr", "ja", "zh_CN"]

    /// One entry of a catalog.
    struct Entry {
        var sentence = ""
        var plural: String?
        var forms: [String] = []
    }

    private static func catalog(_ name: String) throws -> [Entry] {
        let text = try String(contentsOf: root.appending(path: "po/\(name)"), encoding: .utf8)
        let entries = text.components(separatedBy: "\n\n").dropFirst().map { block in
            var entry = Entry()
            for line in block.split(separator: "\n") where !line.hasPrefix("#") {
                let parts = line.split(separator: " ", maxSplits: 1)
                let value = String(parts[1].dropFirst().dropLast()).replacing(#"\""#, with: "\"")
                switch parts[0] {
                case "msgid": entry.sentence = value
                case "msgid_plural": entry.plural = value
                default: entry.forms.append(value)
                }
            }
            return entry
        }
        return Array(entries)
    }

    /// The sentences that the source asks translations of, and those that a list of the source gives.
    private static func sentences() throws -> Set<String> {
        var all: Set<String> = [FingerArea.alikeHint]
        all.formUnion(ScanRetry.allCases.map(\.hint))
        all.formUnion(FingerArea.allCases.map(\.instruction))
        all.formUnion(Finger.allCases.map(\.spokenName))
        all.formUnion([ReaderInfo.ScanType.press, .swipe].map(\.instruction))
        all.formUnion([ReaderInfo.Kind.mock, .virtual].compactMap(\.warning))
        // The errors of recognizing the owner, which prompts show too; they come first in the table.
        for code in ServiceError.Code.allCases.prefix(while: { $0 != .fingerExists }) {
            let error = ServiceError(code)
            all.formUnion([error.message, error.recovery])
        }
        for folder in ["Sources", "Desktop/Sources"] {
            let files = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
            for case let path as String in files ?? .init() where path.hasSuffix(".swift") {
                let source = try String(
                    contentsOf: root.appending(path: folder).appending(path: path),
                    encoding: .utf8
                )
                for call in source.matches(of: /translated\(\s*"([^"\\]+)"/) { all.insert(String(call.1)) }
            }
        }
        return all
    }

    @Test func `are asked of the translators for every sentence that the source has`() throws {
        let asked = Set(try Self.catalog("whorl.pot").map(\.sentence))
        let missing = try Self.sentences().subtracting(asked).sorted()
        #expect(missing.isEmpty, "\(missing)")
    }

    @Test(arguments: languages)
    func `are whole, keep their places and commands, and fit on the screen`(language: String) throws {
        let template = try Self.catalog("whorl.pot")
        let translated = try Self.catalog("\(language).po")
        #expect(translated.map(\.sentence) == template.map(\.sentence))
        for entry in translated {
            for form in entry.forms {
                #expect(!form.isEmpty, "\(language) lacks \(entry.sentence)")
                for marks in [/%\d\$@|%d/, /`[^`]*`|--[a-z]+|WHORL_[A-Z]+/] {
                    let (ours, theirs) = [entry.sentence, form].map { text in
                        text.matches(of: marks).map { String($0.0) }.sorted()
                    }.pair
                    #expect(ours == theirs, "\(language): \(form)")
                }
                let limit =
                    ["Cancel", "Not This Program", "Use Password…"].contains(entry.sentence) ? 40 : 100
                #expect(form.count <= limit, "\(language): \(form)")
                // Nothing in a translation turns a terminal's text around or draws on it.
                #expect(!form.unicodeScalars.contains { $0.properties.generalCategory == .control })
            }
        }
    }

    @Test(arguments: languages)
    func `pass gettext's own check`(language: String) throws {
        let check = ChildProgram()
        check.executableURL = URL(filePath: "/usr/bin/env")
        check.arguments = ["msgcmp", "po/\(language).po", "po/whorl.pot"]
        check.currentDirectoryURL = Self.root
        try check.start()
        #expect(check.waitForEnd() == 0)
    }

    @Test func `are shown by a prompt in the person's language, and to no program`() async throws {
        let compile = ChildProgram()
        compile.executableURL = Self.root.appending(path: "scripts/translations")
        compile.arguments = [
            URL(filePath: WhorlProgram.path).resolvingSymlinksInPath().deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "share/locale").path
        ]
        try compile.start()
        try #require(compile.waitForEnd() == 0)
        func evaluate(_ locale: String, _ more: [String] = []) async throws -> WhorlProgram.Outcome {
            // A person of its own each time, with all tries.
            let whorl = try WhorlProgram()
            try await whorl.enroll()
            // A locale of this name with the data of C.UTF-8, which every machine has: in C.UTF-8 itself glibc 2.41 and
            // later translate nothing.
            try FileManager.default.copyItem(
                atPath: "/usr/lib/locale/C.utf8",
                toPath: whorl.home + "/\(locale).utf8"
            )
            return try await whorl.run(
                ["evaluate", "--reason", "x"] + more,
                reader: "mock:no-match*3",
                environment: ["LC_ALL": "\(locale).UTF-8", "LOCPATH": whorl.home]
            )
        }
        let german = try await evaluate("de_DE")
        #expect(german.err.contains("Den Leser berühren."), "\(german)")
        #expect(german.err.contains("Nicht erkannt. Noch 2 Versuche."))
        #expect(german.err.contains("Nicht erkannt. Noch 1 Versuch."))
        #expect(german.status == 10)
        #expect(try await evaluate("ar_EG").err.contains("لم يُتعرَّف عليه. بقيت محاولتان (2)."))
        #expect(try await evaluate("ja_JP").err.contains("あと 2 回試せます。"))
        let program = try await evaluate("de_DE", ["--json"])
        #expect(program.errorMessage == ServiceError(.authenticationFailed).message, "\(program)")
    }
}

extension [[String]] {
    fileprivate var pair: ([String], [String]) { (self[0], self[1]) }
}
