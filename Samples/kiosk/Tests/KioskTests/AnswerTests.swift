// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Kiosk

@Suite struct AnswerTests {
    private func answer(_ text: String) -> Answer? { Answer(Array(text.utf8)) }

    @Test func `each answer of greetd is read`() {
        #expect(answer(#"{"type":"success"}"#) == .success)
        #expect(
            answer(#" { "type" : "error", "error_type":"auth_error","description":"no"} "#) == .refused("no")
        )
        #expect(answer(#"{"type":"error","error_type":"error","description":null}"#) == .failed(""))
        for (name, kind) in [
            ("visible", Answer.Kind.visible), ("secret", .secret), ("info", .info), ("error", .error),
        ] {
            let text = #"{"auth_message":"Touch","auth_message_type":"\#(name)","type":"auth_message"}"#
            #expect(answer(text) == .sentence(kind, "Touch"))
        }
    }

    @Test func `escapes in an answer are read, and half of a pair makes it none`() {
        let text = #"{"type":"error","error_type":"error","description":"a\"\\\/\u00e9\ud83d\ude00"}"#
        #expect(answer(text) == .failed("a\"\\/é😀"))
        #expect(answer(#"{"type":"error","error_type":"error","description":"\ud83dx"}"#) == nil)
    }

    @Test func `an answer may have members that a later greetd has added`() {
        #expect(answer(#"{"type":"success","since":1}"#) == .success)
    }

    @Test func `an answer that goes very deep is none`() {
        let deep = String(repeating: "[", count: 30_000)
        #expect(answer(#"{"type":"success","a":\#(deep)"#) == nil)
    }

    @Test func `a sentence loses what moves the cursor or reorders the line, and its end`() {
        let long = String(repeating: "w", count: 5000)
        let text =
            #"{"type":"auth_message","auth_message_type":"info","auth_message":"a\u001b\u202eb\n\#(long)"}"#
        guard case .sentence(.info, let shown) = answer(text) else {
            Issue.record("the sentence was not read")
            return
        }
        #expect(shown.hasPrefix("ab www") && shown.count == 200 && shown.hasSuffix("…"))
    }

    @Test(arguments: [
        "", "{", "}", "{}", "[]", "null", "1", #""success""#, #"{"type":"Success"}"#, #"{"type":success}"#,
        #"{"type":"success"}}"#, #"{"type":"success" "a":"b"}"#,
        #"{"type":"success"} x"#,
        #"{"type":"error"}"#, #"{"type":1}"#, #"{"type":{"type":"success"}}"#, #"{"type":"success\"#,
        #"{"type":"\u12"#,
        #"{"type":"success\u"}"#, #"{"type":"succ\qess"}"#, #"{"type":"auth_message","auth_message":"x"}"#,
        #"{"type":"auth_message","auth_message_type":"shout","auth_message":"x"}"#,
        #"{"type":"auth_message","auth_message_type":"info"}"#, "{\"type\":\"suc\ncess\"}",
        "{\"type\":\"success\"}\0",
    ])
    func `what is no answer is nothing`(text: String) { #expect(answer(text) == nil) }

    @Test func `bytes that are no text are nothing`() {
        #expect(Answer([0xff, 0xfe]) == nil)
        #expect(
            Answer(Array(#"{"type":"error","error_type":"error","description":""#.utf8) + [0xc3, 0x22, 0x7d])
                == nil
        )
    }

    @Test func `no made-up bytes are taken for a success, and all of them end`() {
        var random = Numbers(state: 7)
        let whole = Array(
            #"{"type":"auth_message","auth_message_type":"info","auth_message":"\u00e9\ud83d\ude00"}"#.utf8
        )
        for _ in 0..<20_000 {
            var bytes = Array(whole.prefix(Int(random.next() % UInt64(whole.count + 1))))
            for _ in 0..<random.next() % 4 where !bytes.isEmpty {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            #expect(Answer(bytes) != .success)
        }
    }

    /// Random numbers that are the same in every run.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }
}
