// SPDX-License-Identifier: Apache-2.0

import Testing
import WhorlSupport

@Suite struct `A text that is cleaned` {
    @Test(arguments: [
        "\u{115F}", "\u{1160}", "\u{3164}", "\u{FFA0}", "\u{34F}", "\u{17B4}", "\u{17B5}", "\u{180B}",
        "\u{180F}",
        "\u{2800}", "\u{FE0F}", "\u{E0100}", "\u{AD}", "\u{200B}", "\u{202E}", "\u{2066}", "\u{E0041}",
        "\u{1B}", "\u{9B}",
    ]) func `has no invisible characters`(hidden: String) {
        #expect(DisplayText.clean("pay\(hidden)ment") == "payment")
        #expect(DisplayText.isBlank(hidden + hidden))
    }

    // Docs/Security.md: S54
    @Test func `has no character that Unicode lets a screen ignore`() {
        let ignorable = (UInt32(0)...0x10_FFFF).compactMap(Unicode.Scalar.init)
            .filter(\.properties.isDefaultIgnorableCodePoint)
        #expect(ignorable.count > 400)
        #expect(ignorable.allSatisfy { DisplayText.clean(String($0)).isEmpty })
    }

    @Test func `keeps the letters, marks and symbols of all scripts`() {
        for text in ["Größe", "प्रवेश", "ខ្មែរ", "한글", "ไทย", "עברית", "👍🏽", "1 € – “x”…"] {
            #expect(DisplayText.clean(text) == text)
        }
        #expect(DisplayText.clean("a\nb\tc\u{2028}d") == "a b c d")
    }

    @Test func `as one word has nothing that could be other words`() {
        #expect(
            DisplayText.word("python3.11") == "python3.11" && DisplayText.word("kworker/0:1") == "kworker/0:1"
        )
        #expect(DisplayText.word("sudo, process 1)") == "sudo__process_1_")
        #expect(DisplayText.word("zähler") == "zähler")
    }

    // Docs/Security.md: C6b
    @Test func `in quotation marks looks like no end of the quotation, and like no column`() {
        #expect(DisplayText.quoted("open your vault") == "“open your vault”")
        #expect(DisplayText.quoted("whorl” (unverified name; sudo") == "“whorl' (unverified name; sudo”")
        #expect(DisplayText.quoted(" a \"b\"\t\u{3000} \u{A0} c\u{200B} ") == "“a 'b' c”")
        #expect(DisplayText.quoted("") == "“”" && DisplayText.quoted("\u{200B} ") == "“”")
        // A mark or a space with an accent is neither.
        #expect(DisplayText.quoted("a”\u{323} [x]: done") == "“a' [x]: done”")
        #expect(DisplayText.quoted("a \u{323} \u{323} \u{323}b") == "“a b”")
        #expect(DisplayText.quoted("a’’ b״ cʺ d‶") == "“a' b' c' d'”")
        for mark in "“”„‟\"«»" { #expect(DisplayText.quoted("x\(mark)x") == "“x'x”") }
        #expect(DisplayText.quoted(String(repeating: "x ", count: 500)).count <= 202)
    }
}
