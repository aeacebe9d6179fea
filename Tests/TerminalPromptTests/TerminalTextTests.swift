// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WhorlTerminalPrompt

struct TerminalTextTests {
    // Docs/Security.md: S38
    @Test(arguments: [
        ("\u{1B}[2J\u{1B}[31mred", "[2J[31mred"),  // CSI
        ("\u{9B}2Jclear", "2Jclear"),  // CSI as one C1 character
        ("\u{1B}]0;title\u{07}text", "]0;titletext"),  // OSC, ended by BEL
        ("\u{9D}52;c;c2VjcmV0\u{9C}", "52;c;c2VjcmV0"),  // OSC 52 (clipboard) in C1
        ("pay 1\rpay 100", "pay 1 pay 100"),  // CR over the line
        ("one\ntwo\tthree", "one two three"),
        ("user\u{202E}gpj.exe", "usergpj.exe"),  // bidi override
        ("a\u{2066}b\u{2069}c\u{200B}d", "abcd"),  // isolates, zero width
        ("back\u{08}\u{7F}space", "backspace"),
        ("line\u{2028}para\u{2029}end", "line para end"),
    ])
    func `nothing that acts on a terminal comes through`(hostile: String, expected: String) {
        #expect(TerminalText.line(hostile, columns: 80) == expected)
    }

    @Test func `a text that is too wide is cut by columns, not by characters`() {
        #expect(TerminalText.line("abcdefgh", columns: 5) == "abcd…")
        #expect(TerminalText.line("abcde", columns: 5) == "abcde")
        #expect(TerminalText.line("指紋で確認する", columns: 7) == "指紋で…")
        #expect(TerminalText.line("指紋で確認する", columns: 8) == "指紋で…")
        #expect(TerminalText.line("a", columns: 0) == "")
    }

    @Test func `a line of a million characters becomes one line`() {
        let line = TerminalText.line(String(repeating: "x", count: 1_000_000), columns: 79)
        #expect(line == String(repeating: "x", count: 78) + "…")
    }

    @Test(arguments: [
        ("abc", 3), ("é", 1), ("e\u{301}", 1), ("指", 2), ("ＡＢ", 4), ("한", 2), ("👍", 2), ("❤\u{FE0F}", 2),
        ("…", 1),
    ])
    func `columns are counted as terminals do`(text: String, columns: Int) {
        #expect(TerminalText.width(of: text) == columns)
    }

    @Test func `a terminal without UTF-8 gets ASCII, since 0x9B is a command there`() {
        // U+015B is C5 9B in UTF-8: a Latin-1 terminal would read the second byte as CSI.
        let line = TerminalText.line("\u{15B}2J é", columns: 40, ascii: true)
        #expect(line == "?2J ?")
        #expect(line.utf8.allSatisfy { $0 < 0x80 })
    }
}

struct TerminalStyleTests {
    private let utf8 = ["TERM": "xterm", "LANG": "en_GB.UTF-8"]

    @Test func `a color terminal gets colors and redraws`() {
        let style = TerminalStyle(terminalOfColumns: 100, environment: utf8)
        #expect(style == TerminalStyle(columns: 99, redraws: true, colors: true, ascii: false))
    }

    @Test func `NO_COLOR keeps redraws and drops colors`() {
        let style = TerminalStyle(terminalOfColumns: 80, environment: utf8.merging(["NO_COLOR": "1"]) { $1 })
        #expect(style.redraws && !style.colors)
        #expect(style.sign(.good) == "✓")
    }

    @Test func `an empty NO_COLOR counts as absent`() {
        #expect(
            TerminalStyle(terminalOfColumns: 80, environment: utf8.merging(["NO_COLOR": ""]) { $1 }).colors
        )
    }

    @Test(arguments: ["dumb", nil])
    func `a dumb or unnamed terminal gets neither`(term: String?) {
        let style = TerminalStyle(
            terminalOfColumns: 80,
            environment: ["TERM": term, "LANG": "C.UTF-8"].compactMapValues { $0 }
        )
        #expect(!style.redraws && !style.colors)
    }

    @Test(arguments: [
        (["LANG": "C"], true), ([:], true), (["LANG": "de_DE.ISO-8859-1"], true), (["LANG": "C.utf8"], false),
        (["LC_ALL": "C", "LANG": "en_GB.UTF-8"], true), (["LC_ALL": "", "LANG": "en_GB.UTF-8"], false),
    ])
    func `the locale says whether UTF-8 is read`(environment: [String: String], ascii: Bool) {
        #expect(TerminalStyle(terminalOfColumns: 80, environment: environment).ascii == ascii)
    }

    @Test func `the width of an unknown window is 80, and a tiny one counts as 20`() {
        #expect(TerminalStyle(terminalOfColumns: 0, environment: utf8).columns == 79)
        #expect(TerminalStyle(terminalOfColumns: 3, environment: utf8).columns == 20)
    }
}
