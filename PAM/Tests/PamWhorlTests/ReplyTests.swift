// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PamWhorl

private func reply(_ text: String) -> Reply? { Reply(Bytes(text.utf8)) }

@Suite("Messages of the service")
struct ReplyTests {
    @Test(arguments: [
        #"{"parameters":{"matched":true}}"#,
        #" { "parameters" : { "other" : [1, -2.5e3, {"a":[]}, null, "é\u20ac\\\""], "matched" : true } } "#,
        #"{"continues":false,"parameters":{"matched":true},"further":{}}"#,
    ])
    func `are a match where the last one says so`(text: String) {
        #expect(reply(text)?.isMatch == true)
    }

    // Docs/Security.md: S50
    @Test(arguments: [
        "",
        " ",
        "{",
        "}",
        "{}",
        "[]",
        "true",
        "null",
        "\"matched\"",
        #"{"matched":true}"#,
        #"{"parameters":{"matched":false}}"#,
        #"{"parameters":{"matched":true}"#,
        #"{"parameters":{"matched":true}} x"#,
        #"{"parameters":{"matched":"true"}}"#,
        #"{"parameters":{"matched":1}}"#,
        #"{"parameters":{"Matched":true}}"#,
        #"{"parameters":{"matched":true},"continues":true}"#,
        #"{"parameters":{"matched":true},"error":"e"}"#,
        #"{"parameters":{"matched":true},"error":null}"#,
        #"{"parameters":{"matched":false,"matched":true}}"#,
        #"{"parameters":{"matched":true},"parameters":{}}"#,
        #"{"parameters":{},"parameters":{"matched":true}}"#,
        #"{"continues":true,"continues":false,"parameters":{"matched":true}}"#,
        #"{"parameters":{"x":{"matched":true}}}"#,
        #"{"parameters":["matched",true]}"#,
        #"{"parameters":{"matched":true,}}"#,
        #"{"parameters":{"matched":true}}}"#,
        "{\"parameters\":{\"matched\":true\u{0}}}",
    ])
    func `are no match otherwise`(text: String) {
        #expect(reply(text)?.isMatch != true)
    }

    @Test func `do not nest without a bound, and are not longer than one`() {
        let deep = String(repeating: "[", count: 5000)
        #expect(reply(#"{"a":\#(deep)"#) == nil)
        let objects = String(repeating: #"{"a":"#, count: 5000)
        #expect(reply(objects) == nil)
        let long = String(repeating: " ", count: JSONReader.longest)
        #expect(reply(#"{"parameters":{"matched":true}}\#(long)"#) == nil)
    }

    @Test func `have sentences that no terminal obeys`() {
        let text =
            #"{"parameters":{"message":"a\u001b[31m\u0007\u009bb\u00e4\u20ac\ud83d\nc"},"continues":true}"#
        let message = reply(text)?.message.map { String(decoding: $0, as: UTF8.self) }
        #expect(message == "a [31m  bä€? c")
        let long = reply(#"{"parameters":{"message":"\#(String(repeating: "x", count: 5000))"}}"#)
        #expect(long?.message?.count == 200)
    }

    @Test func `are put together from pieces, and a stream with one that is too long is broken`() {
        var framing = Framing()
        var messages: [Bytes] = []
        for byte in "one\0\0two\0thr".utf8 {
            if let message = framing.take(byte) { messages.append(message) }
        }
        #expect(messages == [Bytes("one".utf8), [], Bytes("two".utf8)] && !framing.isBroken)
        for _ in 0..<(JSONReader.longest + 10) { _ = framing.take(UInt8(ascii: "x")) }
        let after = framing.take(0)
        #expect(framing.isBroken && after == nil)
    }

    @Test func `a call carries what PAM says as text and nothing else`() {
        let login = Login(
            user: 4_294_967_294,
            service: Bytes("su\"\\\n\u{0}é".utf8),
            terminal: Bytes("/dev/pts/1".utf8),
            remoteHost: nil
        )
        #expect(
            Call.verify(login, Options())
                == Bytes(
                    (#"{"method":"io.whorl.Login.Verify","more":true,"parameters":{"user":4294967294,"service":"su\"\\????","#
                        + #""terminal":"/dev/pts/1","timeoutMilliseconds":30000,"mostTries":3}}"# + "\0").utf8
                )
        )
    }

    @Test func `a locker that runs as its user names no user, terminal, host or password`() {
        var login = Login(user: 1000, isOfUser: true, service: Bytes("swaylock".utf8))
        login.terminal = Bytes(":0".utf8)
        login.remoteHost = Bytes("localhost".utf8)
        var options = Options()
        options.opensKeyring = true
        #expect(
            Call.verify(login, options)
                == Bytes(
                    (#"{"method":"io.whorl.Login.UnlockScreen","more":true,"parameters":{"service":"swaylock","#
                        + #""timeoutMilliseconds":30000,"mostTries":3}}"# + "\0").utf8
                )
        )
    }

    @Test func `a call names the process of polkit's agent where there is one`() {
        var login = Login(user: 0, service: Bytes("polkit-1".utf8))
        func call() -> String { String(decoding: Call.verify(login, Options()), as: UTF8.self) }
        #expect(!call().contains("agent"))
        login.agent = 7
        #expect(call().hasSuffix(#","mostTries":3,"agent":0}}"# + "\0"))
    }

    @Test func `bytes of every kind are read without a fault, and only a yes is a match`() {
        var generator = SystemRandomNumberGenerator()
        let yes = Bytes(#"{"parameters":{"matched":true,"message":"\u00e4"},"continues":false}"#.utf8)
        for _ in 0..<20_000 {
            var bytes = yes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                default: bytes.insert(contentsOf: bytes[place...].prefix(8), at: place)
                }
            }
            guard let reply = Reply(bytes), reply.isMatch else { continue }
            #expect(String(decoding: bytes, as: UTF8.self).contains(#""matched""#))
        }
    }
}
