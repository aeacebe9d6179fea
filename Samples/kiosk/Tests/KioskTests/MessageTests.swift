// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Kiosk

@Suite struct MessageTests {
    private func frame(_ text: String) -> [UInt8] {
        withUnsafeBytes(of: UInt32(text.utf8.count)) { Array($0) } + Array(text.utf8)
    }

    private func written(_ request: Request) -> [UInt8] { request.message.read { Array($0) } }

    @Test func `requests are written as greetd reads them`() {
        #expect(written(.create(name: "ada")) == frame(#"{"type":"create_session","username":"ada"}"#))
        #expect(written(.cancel) == frame(#"{"type":"cancel_session"}"#))
        #expect(written(.confirmation) == frame(#"{"type":"post_auth_message_response","response":""}"#))
        #expect(
            written(.start(command: #"sh -c "x""#))
                == frame(
                    #"{"type":"start_session","env":["PATH=/usr/local/bin:/usr/bin:/bin"],"cmd":["sh -c \u0022x\u0022"]}"#
                )
        )
    }

    @Test func `a password is written with its quotes, controls and letters of all languages`() {
        let password = "a\"b\\c\u{1}\n\u{7f}é"
        let request = Request.answer(SecretText(text: password))
        let wanted = #"{"type":"post_auth_message_response","response":"a\u0022b\u005cc\u0001\u000a\u007fé"}"#
        #expect(written(request) == frame(wanted))
    }

    @Test func `messages come out whole, however their bytes come in`() {
        let bytes = frame("{}") + frame("[1]")
        for size in 1...bytes.count {
            var frames = Frames()
            var messages: [[UInt8]] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                frames.append(bytes[start..<min(start + size, bytes.count)])
                while case .message(let message) = frames.next() { messages.append(message) }
            }
            #expect(messages == [Array("{}".utf8), Array("[1]".utf8)])
            #expect(frames.next() == .more)
        }
    }

    @Test(arguments: [0, 1, UInt32(Frames.limit) + 1, 0x7fff_ffff, 0xffff_ffff])
    func `a length that is none of a message ends the reading`(length: UInt32) {
        var frames = Frames()
        frames.append(withUnsafeBytes(of: length) { Array($0) })
        #expect(frames.next() == .broken)
        frames.append(frame("{}"))
        #expect(frames.next() == .broken)
    }

    @Test func `half a message is none`() {
        var frames = Frames()
        frames.append([3, 0, 0])
        #expect(frames.next() == .more)
        frames.append([0, 0x7b, 0x7d])
        #expect(frames.next() == .more)
    }
}
