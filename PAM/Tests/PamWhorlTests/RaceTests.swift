// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PamWhorl

private func bytes(_ text: String) -> Bytes { Bytes(text.utf8) }

/// Expects two values to be equal.
///
/// The macro does not support noncopyable values.
private func expect<Value: Equatable>(
    _ value: Value,
    _ expected: Value,
    _ place: SourceLocation = #_sourceLocation
) { #expect(value == expected, sourceLocation: place) }

private let verify = bytes("verify")
private let instruction = bytes(#"{"parameters":{"message":"Place your finger."},"continues":true}"#)
private let match = bytes(#"{"parameters":{"matched":true}}"#)

@Suite("A touch and a password in a race")
struct RaceTests {
    /// Returns a race whose call was already sent to the service.
    private func asked(takesPassword: Bool = true) -> Race {
        var race = Race(takesPassword: takesPassword, isProven: false)
        let (call, step) = race.message(bytes("{}"), verify)
        #expect(call == verify && step == .goOn)
        return race
    }

    private func refusal(_ reason: String) -> Bytes {
        bytes(#"{"error":"io.whorl.Login.Refused","parameters":{"reason":"\#(reason)","message":"No."}}"#)
    }

    @Test func `a match of the service ends it`() {
        var race = asked()
        expect(race.message(match, verify).step, .end(.matched))
    }

    @Test func `a match while a password is typed ends it too`() {
        var race = asked()
        for key in "half a pass".utf8 { expect(race.key(key), .goOn) }
        expect(race.message(match, verify).step, .end(.matched))
    }

    @Test func `a line ends it as typed, whatever the service said before`() {
        for said in [instruction, refusal("noReader"), bytes("garbage"), bytes("{}")] {
            var race = asked()
            _ = race.key(UInt8(ascii: "x"))
            expect(race.message(said, verify).step == .end(.matched), false)
            expect(race.key(UInt8(ascii: "\r")), .end(.typed))
        }
    }

    @Test func `the service is asked after its process is proven, and not before`() {
        var race = Race(takesPassword: true, isProven: false)
        let (proof, _) = race.message(bytes(#"{"parameters":{"question":"a1"}}"#), verify)
        #expect(proof == Call.prove(bytes("a1")))
        let (call, step) = race.message(bytes("{}"), verify)
        #expect(call == verify && step == .goOn)
    }

    @Test func `the service is asked at once where the kernel names the process`() {
        var race = Race(takesPassword: true, isProven: true)
        #expect(race.firstCall(verify) == verify)
        expect(race.message(match, verify).step, .end(.matched))
        let older = Race(takesPassword: true, isProven: false)
        #expect(older.firstCall(verify) == Call.challenge)
    }

    // Docs/Security.md: S50
    @Test func `a match before the question was asked is none`() {
        var race = Race(takesPassword: true, isProven: false)
        expect(race.message(match, verify).step, .goOn)
        var proving = Race(takesPassword: true, isProven: false)
        _ = proving.message(bytes(#"{"parameters":{"question":"a1","matched":true}}"#), verify)
        expect(proving.message(match, verify).step, .goOn)
    }

    @Test(arguments: [
        "noReader", "noFingers", "lidShut", "remote", "noSession", "busy", "disabled", "timedOut", "matched",
        "",
    ])
    func `a refusal ends it without a match and without a word`(reason: String) {
        var race = asked()
        expect(race.message(refusal(reason), verify).step, .end(.unavailable))
        expect(race.farewell, nil)
    }

    @Test func `fingers that did not match and a lock are the person's, and a lock is told`() {
        var failed = asked()
        expect(failed.message(refusal("notMatched"), verify).step, .end(.notMatched))
        expect(failed.farewell, nil)
        for reason in ["lockedOut", "resting"] {
            var locked = asked()
            expect(locked.message(refusal(reason), verify).step, .end(.notMatched))
            expect(locked.farewell, bytes("No."))
        }
    }

    @Test func `somebody who is typing goes on when no touch can come any more`() {
        var race = asked()
        _ = race.key(UInt8(ascii: "x"))
        expect(race.touchEnded(), .goOn)
        expect(race.isTouchAwaited, false)
        var resting = asked()
        expect(resting.touchEnded(), .end(.unavailable))
        var alone = asked(takesPassword: false)
        expect(alone.key(UInt8(ascii: "x")), .goOn)
        expect(alone.touchEnded(), .end(.unavailable))
    }

    @Test func `a sentence is shown once in a row`() {
        var race = asked()
        expect(race.message(instruction, verify).step, .show(bytes("Place your finger.")))
        expect(race.message(instruction, verify).step, .goOn)
    }
}

@Suite("A typed line")
struct LineEditorTests {
    private func text(_ editor: borrowing LineEditor) -> String {
        guard let text = unsafe editor.text else { return "no text" }
        return unsafe String(cString: text.assumingMemoryBound(to: CChar.self))
    }

    private func typed(_ keys: String) -> String {
        var editor = LineEditor()
        for key in keys.utf8 { _ = editor.take(key) }
        return text(editor)
    }

    @Test func `keys erase characters and lines`() {
        #expect(typed("abc") == "abc")
        #expect(typed("abc\u{7f}d") == "abd")
        #expect(typed("aä€😀\u{7f}\u{7f}") == "aä")
        #expect(typed("\u{7f}\u{7f}x") == "x")
        #expect(typed("abc\u{15}d") == "d")
        #expect(typed("a\u{0}b") == "ab")
    }

    @Test func `end of file ends an empty line alone`() {
        var empty = LineEditor()
        expect(empty.take(4), .ended)
        var full = LineEditor()
        _ = full.take(UInt8(ascii: "x"))
        expect(full.take(4), .done)
    }

    @Test func `a line that is too long is known as such until it is erased`() {
        var editor = LineEditor()
        for _ in 0..<LineEditor.longest { _ = editor.take(UInt8(ascii: "x")) }
        expect(editor.isTooLong, false)
        expect(text(editor).utf8.count, LineEditor.longest)
        _ = editor.take(UInt8(ascii: "x"))
        expect(editor.isTooLong, true)
        editor.clear()
        expect(editor.isTooLong, false)
        expect(editor.isEmpty, true)
    }
}

@Suite("Options of a line")
struct OptionTests {
    @Test func `are taken where they are allowed, and change nothing otherwise`() {
        var options = Options()
        for word in ["timeout=7", "max-tries=1", "finger-only", "no-remote", "socket=/run/x/y"] {
            expect(options.take(bytes(word)), true)
        }
        #expect(options.timeout == 7 && options.mostTries == 1 && options.isFingerOnly)
        #expect(options.folder == bytes("/run/x"))
        let before = options
        for word in [
            "timeout=0", "timeout=301", "timeout=-1", "timeout=", "timeout=99999999999999999999",
            "max-tries=0",
            "max-tries=4", "remote", "", "socket=relative", "socket=/" + String(repeating: "x", count: 200),
        ] {
            expect(options.take(bytes(word)), false)
        }
        #expect(options == before)
    }
}
