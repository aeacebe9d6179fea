// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoginAssertion
import RelyingParty
import Testing

/// There is one text for what an assertion says; the device's own signature makes no other text good.
@Suite struct `Forms of what an assertion says` {
    static let changes: [(name: String, change: @Sendable (String) -> String)] = [
        ("a member twice", { $0.replacingOccurrences(of: #""sub":"#, with: #""sub":"eve","sub":"#) }),
        ("a member twice, the wrong one last", { $0.dropLast() + #","sub":"eve"}"# }),
        ("a member that nobody knows", { $0.dropLast() + #","x":1}"# }),
        ("a member that is missing", { $0.replacing(/"jti":"[^"]*",/, with: "") }),
        ("another order", { "{" + #""sub":"ada","# + $0.dropFirst().replacing(/,"sub":"ada"/, with: "") }),
        ("white space", { $0.replacingOccurrences(of: ",", with: ", ") }),
        ("a line feed behind it", { $0 + "\n" }),
        ("a byte order mark", { "\u{FEFF}" + $0 }),
        ("something behind it", { $0 + "{}" }),
        ("an escape of what needs none", { $0.replacingOccurrences(of: "ada", with: #"\u0061da"#) }),
        ("an escaped slash", { $0.replacingOccurrences(of: "//", with: #"\/\/"#) }),
        ("a number in quotes", { $0.replacing(/"iat":(\d+)/) { #""iat":"\#($0.1)""# } }),
        ("a fraction", { $0.replacing(/"iat":(\d+)/) { "\"iat\":\($0.1).0" } }),
        ("an exponent", { $0.replacing(/"iat":18/, with: "\"iat\":1.8e9,\"a\":") }),
        ("a leading zero", { $0.replacing(/"iat":/, with: "\"iat\":0") }),
        ("a negative number", { $0.replacing(/"iat":/, with: "\"iat\":-") }),
        (
            "a huge number",
            { $0.replacing(/"exp":\d+/, with: "\"exp\":" + String(repeating: "9", count: 400)) }
        ),
        ("a huge exponent", { $0.replacing(/"exp":\d+/, with: "\"exp\":1e999999999") }),
        ("the greatest number", { $0.replacing(/"exp":\d+/, with: "\"exp\":9223372036854775807") }),
        ("the smallest number", { $0.replacing(/"iat":\d+/, with: "\"iat\":-9223372036854775808") }),
        (
            "a minute and a second",
            { text in
                text.replacing(/"exp":(\d+)/) { "\"exp\":\((Int($0.1) ?? 0) + 1)" }
            }
        ),
        ("no time at all", { text in text.replacing(/"exp":(\d+)/) { "\"exp\":\((Int($0.1) ?? 0) - 60)" } }),
        ("null", { $0.replacingOccurrences(of: #""ada""#, with: "null") }),
        ("a list of servers", { $0.replacing(/"aud":("[^"]*")/) { "\"aud\":[\($0.1)]" } }),
        ("deep lists", { _ in String(repeating: "[", count: 3_000) }),
        ("deep objects", { _ in String(repeating: #"{"a":"#, count: 1_000) }),
        (
            "deep lists in a member",
            {
                $0.dropLast() + #","x":"# + String(repeating: "[", count: 1_000)
                    + String(repeating: "]", count: 1_000) + "}"
            }
        ),
        ("a list", { "[" + $0 + "]" }),
        ("a bare text", { _ in #""ada""# }),
        ("nothing", { _ in "" }),
        ("another method", { $0.replacingOccurrences(of: #""finger""#, with: #""face""#) }),
        ("another purpose", { $0.replacingOccurrences(of: #""login""#, with: #""Login""#) }),
        ("a finger without fingers", { $0.replacing(/"domain":"[^"]*",/, with: "") }),
        ("a short challenge", { $0.replacing(/"nonce":"[^"]*"/, with: #""nonce":"AAAA""#) }),
        ("a challenge with padding", { $0.replacing(/"nonce":"([^"]*)"/) { #""nonce":"\#($0.1)=""# } }),
        ("an origin in capitals", { $0.replacingOccurrences(of: "bank", with: "BANK") }),
        ("an origin with a path", { $0.replacingOccurrences(of: "bank.example", with: "bank.example/") }),
        (
            "a user with a control character",
            { $0.replacingOccurrences(of: #""ada""#, with: #""a\u0000da""#) }
        ),
        ("a lone surrogate", { $0.replacingOccurrences(of: #""ada""#, with: #""\ud800""#) }),
        (
            "a long user",
            {
                $0.replacingOccurrences(of: #""ada""#, with: "\"" + String(repeating: "a", count: 129) + "\"")
            }
        ),
    ]

    @Test(arguments: changes.indices)
    func `other than the one are refused, and leave nothing behind`(_ index: Int) async throws {
        let (name, change) = Self.changes[index]
        let bank = try await Bank()
        let device = Device()
        try await bank.enable(device)
        let answer = try await bank.answer(device)
        var parts = try Parts(answer)
        let payload = parts.payload
        parts.payload = change(payload)
        #expect(parts.payload.utf8.elementsEqual(payload.utf8) == false, "\(name)")
        let before = try await bank.rows()
        #expect(await bank.refusal(try parts.signed(by: device)) == .malformed, "\(name)")
        #expect(try await bank.rows() == before)
        _ = try await bank.signIn(answer)
    }

    @Test func `that are no UTF-8, no Base64url, or too long are refused, and leave nothing behind`()
        async throws
    {
        let bank = try await Bank()
        let device = Device()
        try await bank.enable(device)
        let answer = try await bank.answer(device)
        let parts = try Parts(answer)
        let before = try await bank.rows()
        let user = try #require(Data(parts.payload.utf8).range(of: Data("ada".utf8)))
        for bytes in [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]]
            as [[UInt8]]
        {
            var payload = Data(parts.payload.utf8)
            payload.replaceSubrange(user, with: bytes)
            let forged = try device.sign(header: Data(parts.header.utf8), payload: payload)
            #expect(await bank.refusal(forged) == .malformed)
        }
        let texts = [
            "", ".", "..", "...", String(repeating: ".", count: 8_192), String(repeating: "A", count: 8_193),
            answer.replacingOccurrences(of: ".", with: "+."),
            answer.replacingOccurrences(of: ".", with: "=."),
            answer.replacingOccurrences(of: ".", with: " ."),
            answer.replacingOccurrences(of: ".", with: "\u{e9}."),
            answer.replacingOccurrences(of: ".", with: "\u{0}."), String(repeating: answer, count: 40),
        ]
        for text in texts { #expect(await bank.refusal(text) == .malformed) }
        #expect(try await bank.rows() == before)
        _ = try await bank.signIn(answer)
    }
}
