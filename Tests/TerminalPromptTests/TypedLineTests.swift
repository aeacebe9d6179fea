// SPDX-License-Identifier: Apache-2.0

import WhorlSecretMemory
import Testing

@testable import WhorlTerminalPrompt

/// What came of typing, in a form that can be compared.
private enum Typed: Equatable {
    case cancel, fallback, resumed
    case dots(Int)
    case refused(PasscodeLine.Fault)
    case passcode([UInt8])

    init(_ key: Key) {
        switch key {
        case .cancel: self = .cancel
        case .fallback: self = .fallback
        case .typed(let characters): self = .dots(characters)
        case .refused(let fault): self = .refused(fault)
        case .submitted(let box): self = .passcode(box.bytes.withUnsafeBytes { Array($0) })
        case .resumed: self = .resumed
        }
    }
}

private func typing(_ bytes: [UInt8], _ line: TypedLine = TypedLine(.taken)) -> [Typed] {
    bytes.compactMap { line.take($0).map(Typed.init) }
}

private func typing(_ text: String, _ line: TypedLine = TypedLine(.taken)) -> [Typed] {
    typing(Array(text.utf8), line)
}

struct TypedLineTests {
    @Test func `Enter submits what was typed, byte for byte, and the line begins anew`() {
        let line = TypedLine(.taken)
        #expect(typing("pä1\r", line).last == .passcode(Array("pä1".utf8)))
        line.set(.taken)
        #expect(typing("x\n", line).last == .passcode([0x78]))
    }

    @Test func `a dot is shown for each character, also beyond ASCII`() {
        #expect(typing("a€指") == [.dots(1), .dots(2), .dots(2), .dots(2), .dots(3), .dots(3), .dots(3)])
    }

    @Test(
        arguments: [
            ("abc\u{7F}d\r", "abd"), ("a€\u{8}b\r", "ab"), ("\u{7F}\u{7F}a\r", "a"),
            ("wrong\u{15}right\r", "right"),
            ("correct horse  \u{17}x\r", "correct x"), ("one\u{17}\u{17}two\r", "two"), ("qf q\r", "qf q"),
        ]
    )
    func `Backspace, ^U and ^W take away what they say, and letters are letters`(
        typed: String,
        passcode: String
    ) {
        #expect(typing(typed).last == .passcode(Array(passcode.utf8)))
    }

    @Test func `Enter on an empty line is nothing`() {
        #expect(typing("\r\n").isEmpty)
        #expect(typing("a\u{15}\r").last == .dots(0))
    }

    @Test func `1,024 bytes are a passcode, and one more is refused, never cut off`() {
        let most = [UInt8](repeating: 0x61, count: 1024)
        #expect(typing(most + [0x0D]).last == .passcode(most))
        let line = TypedLine(.taken)
        #expect(typing(most + [0x62, 0x0D], line).last == .refused(.tooLong))
        #expect(typing("next\r", line).last == .passcode(Array("next".utf8)))
    }

    @Test(arguments: ["ab\u{0}cd\r", "\u{0}cd\r", "ab\tcd\r", "ab\u{4}\r", "\u{1}\u{2}ab\r"])
    func `a control character spoils the line, and what follows it is not taken for the passcode`(
        typed: String
    ) {
        let line = TypedLine(.taken)
        let keys = typing(typed, line)
        #expect(keys.last == .refused(.control))
        #expect(typing("next\r", line).last == .passcode(Array("next".utf8)))
    }

    @Test(arguments: ["a\u{0}\u{15}ok\r", "a\u{0}\u{7F}ok\r"])
    func `a spoiled line that is emptied by hand begins anew`(typed: String) {
        #expect(typing(typed).last == .passcode(Array("ok".utf8)))
    }

    @Test func `Tab chooses the other way only while nothing is typed`() {
        #expect(typing("\t") == [.fallback])
        #expect(typing("a\t").contains(.fallback) == false)
        #expect(typing("\t", TypedLine(.ignored)) == [.fallback])
    }

    @Test func `while a passcode is compared typing goes on, and Enter waits`() {
        let line = TypedLine(.taken)
        #expect(typing("first\r", line).last == .passcode(Array("first".utf8)))
        #expect(typing("sec\r\ro", line) == [.dots(1), .dots(2), .dots(3), .dots(4)])
        line.set(.taken)
        #expect(typing("nd\r", line).last == .passcode(Array("second".utf8)))
    }

    @Test func `where no passcode is asked for nothing is kept of what is typed`() {
        let line = TypedLine(.ignored)
        #expect(typing("secret\r", line).isEmpty)
        line.set(.taken)
        #expect(typing("\r", line).isEmpty)
        _ = typing("half", line)
        line.set(.ignored)
        line.set(.taken)
        #expect(typing("\r", line).isEmpty)
    }
}
