// SPDX-License-Identifier: Apache-2.0

import WhorlFingerprint
import MockReader
import Testing

@Suite struct ScriptTests {
    @Test(
        arguments: [
            ("touch right-index-finger", [.touch(.finger(.rightIndex))]),
            ("TOUCH: Left Thumb", [.touch(.finger(.leftThumb))]),
            ("match; no_match\nhang", [.touch(.expected), .touch(.unknown), .hang]),
            ("retry:too-short,retry tooFast", [.retry(.tooShort), .retry(.tooFast)]),
            ("delay:250ms,delay 2s", [.delay(.milliseconds(250)), .delay(.seconds(2))]),
            ("unplug,plug", [.unplug, .plug]),
            ("busy,permission-denied", [.fail(.inUse), .fail(.permissionDenied)]),
            ("storage-full,duplicate", [.fail(.storageFull), .fail(.duplicate)]),
            ("too-hot,malfunction", [.fail(.tooHot), .fail(.malfunction)]),
            ("lie:index,lie:stranger", [.lie(.index), .lie(.stranger)]),
            ("match*3", [.touch(.expected), .touch(.expected), .touch(.expected)]),
            ("(match,hang)*2", [.touch(.expected), .hang, .touch(.expected), .hang]),
            ("repeat:2(unplug, plug)", [.unplug, .plug, .unplug, .plug]),
            ("# a comment, with a comma\n match # no comment here", []),
            (" , ;\n\r\n match ,, ", [.touch(.expected)]),
        ] as [(String, [MockStep])]
    )
    func `a step is read as documented`(text: String, steps: [MockStep]) throws {
        // A comment begins at a step's beginning only.
        if text.contains("no comment") {
            #expect(throws: MockScriptError.self) { try MockScript(parsing: text) }
        } else {
            #expect(try MockScript(parsing: text).steps == steps)
        }
    }

    // Docs/Security.md: S36
    @Test func `a mock may not take the name of a reader that is none`() {
        #expect(throws: MockScriptError.self) { try MockScript(parsing: "id=virtual_image-0, match") }
        #expect(throws: Never.self) { try MockScript(parsing: "id=mock-1, match") }
    }

    @Test func `a mark beside a separator does not hide it`() throws {
        for text in ["name=a\u{600},match", "name=a\u{600}\r\nmatch"] {
            #expect(try MockScript(parsing: text).steps == [.touch(.expected)])
        }
        #expect(throws: MockScriptError.self) { try MockScript(parsing: "name=a,\u{301}match") }
    }

    @Test func `every setting is read as documented`() throws {
        let script = try MockScript(
            parsing: """
                # a reader with a chip
                stages=12; storage=reader, storage-file=/var/tmp/x y.txt
                features=verify+storage-list, scan=swipe, name=My: reader (2*), id=mock-7
                connected=no, then=no-match
                """
        )
        var wanted = MockSettings()
        wanted.stages = 12
        wanted.storage = .reader
        wanted.storageFile = "/var/tmp/x y.txt"
        wanted.features = [.verify, .storageList]
        wanted.scanType = .swipe
        wanted.name = "My: reader (2*)"
        wanted.id = ReaderID(rawValue: "mock-7")
        wanted.isConnected = false
        wanted.afterScript = .noMatch
        #expect(script == MockScript(settings: wanted))
        #expect(try MockScript(parsing: script.description) == script)
    }

    @Test(arguments: [
        ("match,mtach", 1, 7, "match"),
        ("match\ntouch right-indxe-finger", 2, 7, "right-index-finger"),
        ("retry:to-short", 1, 7, "too-short"),
        ("match\n\n  unplugg", 3, 3, "unplug"),
        ("stagse=3", 1, 1, "stages"),
        ("storage=readr", 1, 9, "reader"),
        ("then=mach", 1, 6, "match"),
        ("features=verify+identfy", 1, 10, "identify"),
        ("lie:indx", 1, 5, "index"),
    ])
    func `a mistyped word is found and the nearest one named`(
        text: String,
        line: Int,
        column: Int,
        suggestion: String
    ) throws {
        let error = try #require(throws: MockScriptError.self) { try MockScript(parsing: text) }
        #expect((error.line, error.column) == (line, column), "\(error)")
        #expect(error.suggestion == suggestion, "\(error)")
        #expect(error.recovery.contains(suggestion))
    }

    @Test(arguments: [
        "match match", "match)", "(match", "match*", "match*0", "match*x", "match*99999", "match*-1", "touch",
        "touch(", "delay", "delay:5", "delay:2h", "delay:3601s", "delay:99999999999999999999ms", "delay:-1s",
        "stages=0", "stages=51", "stages=", "match,stages=3", "(stages=3)", "repeat:3", "repeat:3 match",
        "*3",
        "=", "retry", "lie", "match:now", "connected=maybe", "features=+", "((((((((((match))))))))))",
        "(((match*1000)*1000)*1000)*1000", "\u{1B}[2J", "touch \u{202E}", "💥",
    ])
    func `a script with a mistake is refused with what was expected`(text: String) throws {
        let error = try #require(throws: MockScriptError.self) { try MockScript(parsing: text) }
        #expect(!error.expected.isEmpty)
        #expect(error.message.contains("line \(error.line), character \(error.column)"))
    }

    @Test(arguments: ["", " ", "\n,;", "# nothing"])
    func `a script without anything shows the language`(text: String) throws {
        let error = try #require(throws: MockScriptError.self) { try MockScript(parsing: text) }
        for word in ["touch", "no-match", "stages=", "then=", "@PATH"] {
            #expect(error.recovery.contains(word))
        }
    }

    @Test func `a reader's name is a mock's when it begins so`() throws {
        #expect(try MockScript.named("mock:match")?.steps == [.touch(.expected)])
        #expect(try MockScript.named("elanmoc-1") == nil)
        #expect(try MockScript.named("mockingbird") == nil)
        #expect(throws: MockScriptError.self) { try MockScript.named("mock") }
        #expect(throws: MockScriptError.self) { try MockScript.named("mock:") }
    }

    @Test func `a script of more than 64 KiB is refused, and one of 64 KiB read`() throws {
        let line = "match,"
        let most = String(repeating: line, count: (64 << 10) / line.utf8.count)
        #expect(try MockScript(parsing: most).steps.count == most.count / line.count)
        #expect(throws: MockScriptError.self) { try MockScript(parsing: most + line) }
    }

    @Test func `a script comes from a file`() throws {
        try withTemporaryFile("match # not a comment\n") { path in
            #expect(throws: MockScriptError.self) { try MockScript(parsing: "@" + path) }
        }
        let script = try withTemporaryFile("# two steps\nmatch\nno-match\n") {
            try MockScript(parsing: "@" + $0)
        }
        #expect(script.steps == [.touch(.expected), .touch(.unknown)])
    }

    @Test(arguments: ["/dev/zero", "/nonexistent/script", "/", ""])
    func `a file that is none is refused with the reason`(path: String) throws {
        let error = try #require(throws: MockScriptError.self) { try MockScript(parsing: "@" + path) }
        #expect(error.found == path)
        #expect(error.expected.contains("a file that can be read"))
    }

    @Test func `any text is read or refused, and what is read reads back as the same`() {
        let pieces =
            MockScript.summary.split { " ,.;:\"".contains($0) }.map(String.init)
            + [
                ",", ";", "\n", "(", ")", "*", "*2", ":", "=", "#", " ", "\r\n", "\u{0}", "é", "3", "250ms",
                "\t", "@",
            ]
        var random = SplitMix(state: 7)
        var read = 0
        for _ in 0..<4000 {
            let count = Int.random(in: 1...8, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            guard !text.hasPrefix("@"), let script = try? MockScript(parsing: text) else { continue }
            read += 1
            let again = try? MockScript(parsing: script.description)
            #expect(again == script || script.description.isEmpty, "\(text.debugDescription)")
        }
        #expect(read > 100)
    }
}

/// Random numbers that are the same in each run.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
