// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import WhorlVault
import WhorlService

/// Names: text that can be typed, shown and compared without surprises.
struct ItemNameTests {
    /// The sentence with which a name is refused.
    private static func refusal(_ text: String) -> String? {
        do {
            _ = try ItemName(text)
            return nil
        } catch {
            #expect(error.code == .nameRefused)
            return error.message
        }
    }

    private static let edge =
        "The name must start with a letter or digit, and must not end with a space."

    @Test(
        arguments: [
            "github-token", "a", "me@example.org", "Wi-Fi at home", "v1.2+3", "ключ", "鍵", "संदेश", "key:1_2",
            String(repeating: "x", count: 255),
        ]
    )
    func `a name of letters, digits, spaces and -_.@+: is taken as it is`(text: String) throws {
        #expect(try ItemName(text).text == text)
    }

    @Test func `two spellings of the same letters are one name`() throws {
        let composed = try ItemName("caf\u{E9}")
        let decomposed = try ItemName("cafe\u{301}")
        #expect(composed == decomposed)
        #expect(Array(composed.text.utf8) == Array(decomposed.text.utf8))
    }

    // Docs/Security.md: C4a
    @Test func `two names are equal exactly where their bytes are, for every letter that can be taken apart`()
        throws
    {
        var compared = 0
        for value in UInt32(0xC0)...0x1_FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let whole = "a" + String(Character(scalar))
            let apart = whole.decomposedStringWithCanonicalMapping
            // By pieces that are put together again step by step, too.
            let parts = Array(apart.unicodeScalars)
            guard parts.count > 2, let first = try? ItemName(whole), let second = try? ItemName(apart) else {
                continue
            }
            let isSame = Array(first.text.utf8) == Array(second.text.utf8)
            #expect((first == second) == isSame && isSame, "U+\(String(value, radix: 16))")
            #expect(Set([first, second]).count == 1)
            compared += 1
        }
        #expect(compared > 500)
    }

    @Test(
        arguments: [
            "../secret", "a/b", "/etc/passwd", "a\\b", "a\0b", "a\nb", "a\u{1B}[31m", "a\u{7F}", "a\u{85}b",
            "🔑",
            "a🔑", "a\u{200B}b", "a\u{200D}b", "a\u{202E}b", "a\u{FEFF}", "a\u{A0}b", "a\u{2028}b", "a'b",
            "a$b", "a*",
            "a\u{E000}", "a\u{FE0F}", "\u{3164}x", "a\u{115F}",
        ]
    )
    func `path characters, emoji, control and invisible characters are refused`(text: String) {
        let refusal = Self.refusal(text) ?? ""
        #expect(refusal.hasPrefix("The name contains U+") || refusal == Self.edge, "\(text.debugDescription)")
    }

    @Test(arguments: [".hidden", "-rf", " a", "a ", "@x", "..", "\u{301}a"])
    func `a name begins with a letter or digit and does not end with a space`(text: String) {
        #expect(Self.refusal(text) == Self.edge)
    }

    @Test func `nothing is no name`() { #expect(Self.refusal("") == "The name is empty.") }

    @Test(arguments: [256, 10_000, 1 << 20])
    func `a name of too many bytes is refused with their number`(count: Int) {
        let refusal = Self.refusal(String(repeating: "n", count: count))
        #expect(refusal == "The name is too long: \(count) bytes; the maximum is 255.")
    }

    @Test func `a name that grows beyond the limit by being normalized is refused`() {
        // U+0958 decomposes to two scalars of three bytes each, also in NFC.
        let refusal = Self.refusal(String(repeating: "\u{958}", count: 80))
        #expect(refusal == "The name is too long: 480 bytes; the maximum is 255.")
    }

    @Test func `an error names the character by its number, not by itself`() throws {
        #expect(Self.refusal("a\u{1B}b") == "The name contains U+001B, which is not allowed.")
    }
}
